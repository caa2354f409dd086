// What a view shows while it has nothing yet, has nothing at all, or could not get it.
import type {ComponentChildren} from 'preact';
import type {Loaded} from '../state/loaded';
import {Prose} from './prose';

export function Empty({title, children}: {title: string; children?: ComponentChildren}) {
  return (
    <div class="state">
      <h2>{title}</h2>
      <p>{children}</p>
    </div>
  );
}

export function Failed({message, again}: {message: string; again?: (() => void) | undefined}) {
  return (
    <div class="state bad" role="alert">
      <h2>This could not be shown</h2>
      <p>
        <Prose text={message} />
      </p>
      {again !== undefined && (
        <button type="button" class="button" onClick={again}>
          Try again
        </button>
      )}
    </div>
  );
}

export function Waiting({label = 'Computing'}: {label?: string}) {
  return <div class="waiting" role="status" aria-label={label} />;
}

export function When<T>(props: {of: Loaded<T>; children: (value: T) => ComponentChildren}) {
  const {of} = props;
  if (of.state === 'loading') return <Waiting />;
  if (of.state === 'failed') return <Failed message={of.message} again={of.again} />;
  return <>{props.children(of.value)}</>;
}

export function Remarks({texts}: {texts: readonly string[]}) {
  if (texts.length === 0) return null;
  return (
    <div class="stack remarks">
      {texts.map((text) => (
        <p class="remark" key={text}>
          <Prose text={text} />
        </p>
      ))}
    </div>
  );
}
