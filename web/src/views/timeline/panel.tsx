// A part of the panel on the right: a title, a way to close it, what is inside.
import type {ComponentChildren} from 'preact';
import {shortName} from '../../render/cells';
import {Cut} from '../cut';

export function PanelName({name}: {name: string}) {
  return <Cut text={shortName(name)} />;
}

export function PanelPart(props: {
  title: string;
  kicker?: string;
  close: () => void;
  children: ComponentChildren;
}) {
  return (
    <section class="panel-part" aria-label={props.kicker ?? props.title}>
      <header>
        <div>
          {props.kicker !== undefined && <span class="kicker">{props.kicker}</span>}
          <h2>{props.title}</h2>
        </div>
        <button
          type="button"
          class="button plain icon"
          aria-label={`Close ${props.kicker ?? props.title}`}
          onClick={props.close}
        >
          ×
        </button>
      </header>
      {props.children}
    </section>
  );
}
