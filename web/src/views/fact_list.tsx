// Names with their values, each with more to say where it is pointed at.
export interface Fact {
  name: string;
  value: string;
  about?: string | undefined;
}

export function FactList({facts, look}: {facts: readonly Fact[]; look: string}) {
  return (
    <dl class={look}>
      {facts.map(({name, value, about}) => (
        <div key={name} data-tip={about}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}
