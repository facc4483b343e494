import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { draw, type Drawn, type Mode, type RequestType } from '../../api/ids-api';
import type { Problem } from '../../api/problem';
import { useConsole, useMonitor } from '../../state/context';
import { Choice, Field } from '../../ui/field';
import { ProblemNote } from '../../ui/note';
import { hrefOf } from '../../state/route';
import { CopyButton } from '../../ui/copy-button';

const SHOWN = 100;

/** The result of one request. */
interface Round {
  readonly number: number;
  readonly mode: Mode;
  readonly name: string;
  readonly drawn: readonly Drawn[];
  readonly ms: number;
}

/** Newest first. */
function DrawnList({ rounds }: { readonly rounds: readonly Round[] }): JSX.Element {
  const { t } = useConsole();
  return (
    <section class="card drawn" aria-label={t.drawnIds} aria-live="polite" aria-relevant="additions">
      {rounds.length === 0 && <p class="soft">{t.nothingDrawn}</p>}
      {rounds.map((round) => (
        <DrawnRound key={round.number} round={round} />
      ))}
    </section>
  );
}

function DrawnRound({ round: { mode, name, drawn, ms } }: { readonly round: Round }): JSX.Element {
  const { t, format } = useConsole();
  const all = drawn.map(({ from, to }) => (from === to ? from : `${from}-${to}`)).join('\n');
  return (
    <article>
      <h2>
        <span class="tag-name">{name}</span>
        <small>{t.drawn(format.count(drawn.reduce(sizeOf, 0n)), format.milliseconds(ms))}</small>
        <CopyButton text={all} what={t.drawnIds} />
      </h2>
      <ul>
        {drawn.slice(0, SHOWN).map(({ from, to }) => (
          <li key={from} class="mono">
            {from === to ? from : `${from} … ${to}`}
            {mode === 'snowflake' && (
              <a href={hrefOf('decoder', from)} aria-label={t.decodeId(from)}>
                {t.decode}
              </a>
            )}
          </li>
        ))}
      </ul>
      {drawn.length > SHOWN && <p class="soft">{t.more(format.count(drawn.length - SHOWN))}</p>}
    </article>
  );
}

function sizeOf(sum: bigint, { from, to }: Drawn): bigint {
  return sum + BigInt(to) - BigInt(from) + 1n;
}

const KEPT_ROUNDS = 50;

/** Requests IDs as a client does and shows the responses. */
export function TryPage(): JSX.Element {
  const { t } = useConsole();
  const { tags, segments } = useMonitor();
  const [mode, setMode] = useState<Mode>(segments?.enabled === false ? 'snowflake' : 'segment');
  const [requestType, setRequestType] = useState<RequestType>('single');
  const [tag, setTag] = useState<string | undefined>(undefined);
  const [key, setKey] = useState('test');
  const [size, setSize] = useState('10');
  const [rounds, setRounds] = useState<readonly Round[]>([]);
  const [problem, setProblem] = useState<Problem | undefined>(undefined);
  const name = mode === 'segment' ? (tag ?? tags.keys().next().value ?? '') : key;
  const requestTypes: readonly (readonly [RequestType, string])[] = [
    ['single', t.single],
    ['batch', t.batch],
    ...(mode === 'segment' ? [['range', t.range] as const] : []),
  ];
  const go = async (): Promise<void> => {
    setProblem(undefined);
    const begun = performance.now();
    const outcome = await draw(mode, requestType, name, Number(size));
    if (!outcome.ok) {
      setProblem(outcome.problem);
      return;
    }
    const round: Round = { number: begun, mode, name, drawn: outcome.value, ms: performance.now() - begun };
    setRounds((known) => [round, ...known].slice(0, KEPT_ROUNDS));
  };
  return (
    <section aria-label={t.tryIt}>
      <form
        class="toolbar"
        onSubmit={(event) => {
          event.preventDefault();
          void go();
        }}
      >
        <Choice
          label={t.mode}
          value={mode}
          onValue={(chosen) => {
            setMode(chosen);
            if (chosen === 'snowflake' && requestType === 'range') setRequestType('batch');
          }}
          options={[
            ['segment', t.segmentMode],
            ['snowflake', t.snowflakeMode],
          ]}
        />
        <Field
          label={mode === 'segment' ? t.tagField : t.key}
          value={name}
          onValue={mode === 'segment' ? setTag : setKey}
          list="try-tags"
          required
        />
        <datalist id="try-tags">
          {mode === 'segment' && firstOf(tags.keys()).map((known) => <option value={known} />)}
        </datalist>
        <Choice label={t.requestType} value={requestType} onValue={setRequestType} options={requestTypes} />
        {requestType !== 'single' && (
          <Field class="short" label={t.size} value={size} onValue={setSize} digits required />
        )}
        <button type="submit" class="main">
          {t.draw}
        </button>
        <button type="button" class="quiet" disabled={rounds.length === 0} onClick={() => setRounds([])}>
          {t.clear}
        </button>
      </form>
      <p class="hint under">{t.drawHint}</p>
      <ProblemNote problem={problem} />
      <DrawnList rounds={rounds} />
    </section>
  );
}

/** Limits the suggestions for tag names. */
function firstOf(names: Iterable<string>): string[] {
  const suggested: string[] = [];
  for (const name of names) {
    if (suggested.push(name) === 200) break;
  }
  return suggested;
}
