import type { JSX } from 'preact';
import type { Drawn, Mode } from '../../api/ids-api';
import { useConsole } from '../../state/context';
import { hrefOf } from '../../state/route';
import { CopyButton } from '../../ui/copy-button';

const SHOWN = 100;

/** The result of one request. */
export interface Round {
  readonly number: number;
  readonly mode: Mode;
  readonly name: string;
  readonly drawn: readonly Drawn[];
  readonly ms: number;
}

/** Newest first. */
export function DrawnList({ rounds }: { readonly rounds: readonly Round[] }): JSX.Element {
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
