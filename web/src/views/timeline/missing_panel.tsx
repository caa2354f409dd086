// An address that names what is not in this run: it may come from another run, or from before its
// files were written again.
import {PanelPart} from './panel';

export interface Missing {
  title: string;
  text: string;
}

const ELSEWHERE = 'The address may come from another run, or from before its files changed.';

export function notAnEvent(id: string, reason?: string): Missing {
  const why = reason ?? 'An event is named by its rank, its recording and its number: 0.0.1234';
  const sentence = why.charAt(0).toUpperCase() + why.slice(1);
  return {title: `There is no event ${id}`, text: `${sentence}. ${ELSEWHERE}`};
}

export function notAStep(id: string): Missing {
  const [rank, window, step] = id.split('.');
  const named = step === undefined ? id : `${step} in recording ${window} of rank ${rank}`;
  return {title: 'This step is not in the trace', text: `There is no step ${named}. ${ELSEWHERE}`};
}

export function notAPlace(id: string): Missing {
  return {title: 'This time is not in the trace', text: `Nothing is at ${id}. ${ELSEWHERE}`};
}

export function MissingPanel({missing, close}: {missing: Missing; close: () => void}) {
  return (
    <PanelPart title={missing.title} kicker="Not in this run" close={close}>
      <p class="bad-text" role="alert">
        {missing.text}
      </p>
    </PanelPart>
  );
}
