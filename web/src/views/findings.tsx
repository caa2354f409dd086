// Findings first: what, how much, what to do, and a click to the evidence.
import {useState} from 'preact/hooks';
import type {Evidence, Finding, Findings} from '../api/findings';
import type {Column} from '../api/tables';
import {figureText} from '../render/cells';
import {gainText} from '../render/gain';
import {counted, durationText, listText} from '../render/numbers';
import {copy, tableCsv} from '../state/copying';
import {findingsOf} from '../state/run';
import {Code} from './code';
import {eventHref, nameHref, stepHref} from './links';
import {isWholeOne} from './overview_cards';
import {Prose} from './prose';
import {When} from './states';

export function FindingsCard() {
  return (
    <section class="card" aria-label="Findings">
      <When of={findingsOf().value}>{(found) => <Found found={found} />}</When>
    </section>
  );
}

function Found({found}: {found: Findings}) {
  const [all, setAll] = useState(false);
  const shown = all ? found.findings : found.findings.slice(0, 4);
  return (
    <>
      <div class="card-head">
        <h2>
          {found.findings.length > 0
            ? 'What to look at first'
            : found.healthy
              ? 'Nothing is wrong here'
              : 'This run cannot be judged'}
        </h2>
        {found.findings.length > 0 && <CopyFindings found={found} />}
      </div>
      {isWholeOne() && (
        <p class="soft">
          No steps are marked in the trace: here the whole recording counts as one step.
        </p>
      )}
      {found.verdict.map((sentence) => (
        <p key={sentence} class="soft">
          <Prose text={sentence} />
        </p>
      ))}
      {shown.map((finding, i) => (
        <OneFinding
          key={`${finding.rule}${i}`}
          finding={finding}
          step={found.step_ns}
          namesStep={found.findings.some((one) => one.untraced_step_ns > 0)}
          open={i === 0}
        />
      ))}
      {found.findings.length > shown.length && (
        <button type="button" class="button finding-more" onClick={() => setAll(true)}>
          {`Show all ${found.findings.length} findings`}
        </button>
      )}
      {found.not_judged.length > 0 && (
        <details class="not-judged">
          <summary>{`${counted(found.not_judged.length, 'rule')} could not be judged`}</summary>
          <ul>
            {found.not_judged.map((rule) => (
              <li key={rule.rule}>
                <b>{rule.rule}</b> <Prose text={rule.why} />
                {rule.record !== '' && <span class="soft">{` · record ${rule.record}`}</span>}
              </li>
            ))}
          </ul>
        </details>
      )}
    </>
  );
}

const COLUMNS: readonly Column[] = [
  'rule',
  'level',
  'title',
  'gain_low_ns',
  'gain_high_ns',
  'confidence',
].map((name) => ({name, type: 'text', unit: '', about: ''}));

function CopyFindings({found}: {found: Findings}) {
  const rows = found.findings.map((each) => [
    each.rule,
    each.level,
    each.title,
    each.gain_per_step?.low_ns ?? null,
    each.gain_per_step?.high_ns ?? null,
    each.confidence,
  ]);
  return (
    <span class="tools">
      <button
        type="button"
        class="button"
        onClick={() => void copy(tableCsv(COLUMNS, rows), 'CSV')}
      >
        Copy CSV
      </button>
      <button
        type="button"
        class="button"
        onClick={() => void copy(JSON.stringify(found, null, 1), 'JSON')}
      >
        Copy JSON
      </button>
    </span>
  );
}

const UNITS: Readonly<Record<string, 'share' | 'ns' | 'bytes' | 'count'>> = {
  'share, 0 to 1': 'share',
  ns: 'ns',
  bytes: 'bytes',
  count: 'count',
};

interface FindingProps {
  finding: Finding;
  step: number | null;
  namesStep: boolean; // findings are of different steps
  open: boolean;
}

function OneFinding({finding, step, namesStep, open}: FindingProps) {
  const gain = finding.gain_per_step;
  const measured = finding.measured;
  const unit = UNITS[measured?.unit ?? ''] ?? '';
  const whole = measured?.whole_ns ?? 0;
  // What the gain is a part of: the same step in the heading and in the text below it.
  const base = whole > 0 ? whole : step;
  return (
    <details class={`finding ${finding.level}`} open={open}>
      <summary>
        <span class="level">{finding.level}</span>
        <span class="finding-title">{finding.title}</span>
        {gain !== null && gain.high_ns > 0 && (
          <span
            class="gain numbers"
            data-tip="How much shorter a step would be, at least and at most"
          >
            {gain.low_ns > 0
              ? `−${durationText(gain.low_ns)} to −${durationText(gain.high_ns)}`
              : `up to −${durationText(gain.high_ns)}`}
            {base !== null && base > 0 && <i>{` of ${durationText(base)} a step`}</i>}
          </span>
        )}
      </summary>
      <div class="finding-body">
        <div>
          <p>
            <Prose text={finding.detail} />
          </p>
          {gain !== null && gain.high_ns > 0 && base !== null && (
            <p class="soft small numbers what-it-brings">
              Gain:{' '}
              <b>
                {gainText(
                  gain,
                  finding.remaining_gain_per_step,
                  base,
                  finding.recorded_gain_per_step,
                  namesStep,
                )}
              </b>
            </p>
          )}
          {measured !== null && (
            <details>
              <summary class="soft small">How it was measured</summary>
              <p class="soft small numbers measured">
                {measured.name}: <b>{figureText(measured.value, unit)}</b>
                {unit === 'share' &&
                  whole > 0 &&
                  `, ${durationText(measured.value * whole)} of ${durationText(whole)}`}
                {measured.threshold !== null &&
                  measured.threshold > 0 &&
                  ` (threshold ${figureText(measured.threshold, unit)})`}
                {finding.confidence !== '' && ` · confidence ${finding.confidence}`}
                {finding.ranks.length > 0 && ` · rank\u00a0${listText(finding.ranks)}`}
              </p>
            </details>
          )}
          {finding.evidence.length > 0 && (
            <>
              <h3>Where</h3>
              <ul class="evidence">
                {finding.evidence.map((piece, i) => (
                  <EvidenceLine key={i} piece={piece} />
                ))}
              </ul>
            </>
          )}
        </div>
        <div>
          {finding.changes.length > 0 && <h3>What to change</h3>}
          {finding.changes.map((change) => (
            <div class="change" key={change.why + change.code}>
              <p>
                <Prose text={change.why} />
              </p>
              {change.code !== '' && <Code text={change.code} />}
            </div>
          ))}
          <details>
            <summary class="soft small">How to check</summary>
            <p class="soft">
              <Prose text={finding.verify} />
            </p>
            <p class="soft small">
              <Prose text={`More about this: \`stepscope advise --explain ${finding.rule}\``} />
            </p>
          </details>
        </div>
      </div>
    </details>
  );
}

function EvidenceLine({piece}: {piece: Evidence}) {
  const place = [
    piece.rank === null ? '' : `rank ${piece.rank}`,
    piece.step === null ? '' : `step ${piece.step}`,
  ].filter((text) => text !== '');
  let link: string | null = null;
  if (piece.rank !== null && piece.event !== null)
    link = eventHref(piece.rank, piece.window ?? 0, piece.event);
  else if (piece.rank !== null && piece.step !== null)
    link = stepHref(piece.rank, piece.window ?? 0, piece.step);
  // Evidence about all calls of a name begins with it: "aten::mm: 6.47 ms per step".
  const name = link === null ? /^([^\s:]+(?:::[^\s:]+)*): /.exec(piece.text)?.[1] : undefined;
  return (
    <li>
      <Prose text={piece.text} />
      {link !== null && (
        <a href={link} class="show-it">{`Show ${place.join(', ')} in the timeline`}</a>
      )}
      {name !== undefined && (
        <a href={nameHref(name, piece.rank)} class="show-it">{`Find ${name} in the timeline`}</a>
      )}
    </li>
  );
}
