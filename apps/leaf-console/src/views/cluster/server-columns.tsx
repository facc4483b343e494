import type { JSX } from 'preact';
import { useClusterMessages } from '../../i18n/cluster/messages';
import type { PartStatus } from '../../monitor/views';
import { useConsole } from '../../state/context';
import { Exact } from '../../ui/exact';
import { SparkLine } from '../../ui/spark-line';
import { SERVER_STATE_DOTS, serverStateWords, StatusDot } from '../../ui/status-dot';
import type { Column } from '../../ui/virtual-table';
import type { ShownServer } from './expired-servers';
import {
  capacityFor,
  isUnanswered,
  type ServerColumn,
  type ServerRow,
  type ShownResult,
  totalRate,
} from './server-sorting';

const DOTS: Readonly<Record<ShownServer['state'], PartStatus>> = {
  ...SERVER_STATE_DOTS,
  silent: 'down',
  refused: 'down',
  expired: 'down',
  unasked: 'off',
};

/** Tags named below the count. */
const NAMED_TAGS = 2;

/** @param now the time of the answer, by the clock of the server that the page comes from */
export function useServerColumns(now: number, command: (instance: string) => void): Column<ServerRow, ServerColumn>[] {
  const c = useClusterMessages();
  return [
    { name: 'server', label: c.server, cell: ({ server }) => <Identity server={server} now={now} /> },
    { name: 'state', label: c.state, cell: ({ server }) => <State server={server} now={now} /> },
    { name: 'rate', label: c.rate, hint: c.rateHint, cell: (row) => <Rate row={row} /> },
    { name: 'worker', label: c.worker, hint: c.workerHint, cell: ({ server }) => <Worker server={server} now={now} /> },
    { name: 'clock', label: c.clock, hint: c.clockHint, cell: ({ server }) => <ClockOffset server={server} /> },
    { name: 'tags', label: c.tags, hint: c.tagsHint, cell: ({ server }) => <Tags server={server} /> },
    { name: 'details', label: c.details, hint: c.detailsHint, sortable: false, cell: (row) => <Details row={row} /> },
    {
      name: 'command',
      label: c.command,
      sortable: false,
      cell: ({ server: { instance, state } }) =>
        state === 'unasked' || state === 'expired' ? (
          ''
        ) : (
          <button type="button" class="quiet" aria-label={c.commandOf(instance)} onClick={() => command(instance)}>
            {c.commandVerb} …
          </button>
        ),
    },
  ];
}

interface ServerProps {
  readonly server: ShownServer;
  readonly now: number;
}

function Identity({ server: { instance, self, version, startedAt }, now }: ServerProps): JSX.Element {
  const { format } = useConsole();
  const c = useClusterMessages();
  const running = startedAt === undefined ? [] : [c.up(format.span(now - startedAt))];
  const facts = [...(version === undefined ? [] : [version]), ...(self ? [c.thisServer] : running)];
  return (
    <>
      <span class="tag-name" title={instance}>
        {instance}
      </span>
      <small class="ellipsis">{facts.join(' · ')}</small>
    </>
  );
}

function State({ server, now }: ServerProps): JSX.Element {
  const { format, t } = useConsole();
  const c = useClusterMessages();
  const { state, answeredInMs, lastAnsweredAt, expiredAt } = server;
  const words: Readonly<Record<ShownServer['state'], string>> = {
    ...serverStateWords(t),
    silent: c.stateSilent,
    refused: c.stateRefused,
    expired: c.stateExpired,
    unasked: c.stateUnasked,
  };
  return (
    <>
      <span class={`server-word word-${DOTS[state]}`}>
        <StatusDot status={DOTS[state]} /> {words[state]}
      </span>
      {isUnanswered(server) ? (
        <small>
          {expiredAt !== undefined && <Exact exact={format.local(expiredAt)}>{format.ago(expiredAt, now)}</Exact>}
          {lastAnsweredAt !== undefined && (
            <Exact exact={format.local(lastAnsweredAt)}>{c.lastAnswer(format.ago(lastAnsweredAt, now))}</Exact>
          )}
          {expiredAt === undefined && lastAnsweredAt === undefined && c.notReachedYet}
        </small>
      ) : (
        answeredInMs !== undefined && <small>{c.answeredIn(format.milliseconds(answeredInMs))}</small>
      )}
    </>
  );
}

function Rate({ row: { server, rates } }: { readonly row: ServerRow }): JSX.Element {
  const { format } = useConsole();
  const c = useClusterMessages();
  const errors = server.errorsPerSecond ?? 0;
  return (
    <>
      <span class="rate">
        <SparkLine values={rates} capacity={capacityFor(rates)} />
        <span class="rate-number">{server.idsPerSecond === undefined ? '–' : format.rate(totalRate(server))}</span>
      </span>
      {errors > 0 && <small class="is-down">{c.errors(format.rate(errors))}</small>}
    </>
  );
}

function Worker({ server: { workerId, snowflake }, now }: ServerProps): JSX.Element {
  const { format } = useConsole();
  const c = useClusterMessages();
  const id = snowflake?.workerId ?? workerId;
  const left = snowflake === undefined ? undefined : snowflake.ceiling - now;
  return (
    <>
      <span title={snowflake?.registry}>{id ?? '–'}</span>
      {left !== undefined && (
        <small class={left > 0 ? '' : 'is-down'}>
          {left > 0 ? c.leaseLeft(format.milliseconds(left)) : c.leaseExpired}
        </small>
      )}
    </>
  );
}

function ClockOffset({ server: { snowflake } }: { readonly server: ShownServer }): JSX.Element {
  const { format } = useConsole();
  const offset = snowflake?.clockOffsetMs ?? null;
  if (offset === null) return <>–</>;
  return (
    <>
      {offset < 0 ? '−' : '+'}
      {format.milliseconds(Math.abs(offset))}
    </>
  );
}

function Tags({ server: { tags } }: { readonly server: ShownServer }): JSX.Element {
  const { format } = useConsole();
  const c = useClusterMessages();
  if (tags === undefined) return <>–</>;
  const busiest = tags.used.map(({ tag, idsPerSecond }) => c.tagRate(tag, format.rate(idsPerSecond)));
  const named = tags.used.slice(0, NAMED_TAGS).map(({ tag }) => tag);
  const count = c.tagCount(format.count(tags.count));
  return (
    <>
      {busiest.length === 0 ? count : <Exact exact={busiest.join(', ')}>{count}</Exact>}
      <small class="ellipsis">{named.join(', ')}</small>
    </>
  );
}

/** The result of the newest command comes first, then why the server does not answer, then its last error. */
function Details({ row: { server, shown } }: { readonly row: ServerRow }): JSX.Element {
  const { format } = useConsole();
  const c = useClusterMessages();
  const { lastError, state } = server;
  const reason = state === 'expired' ? c.expiredReason : server.reason;
  const error = lastError && `${format.clock(lastError.at)} ${lastError.code}: ${lastError.message}`;
  const text = [reason, error].filter((part) => part !== undefined).join(' · ') || c.noError;
  return (
    <>
      {shown !== undefined && <GivenCommand {...shown} />}
      <span class={shown === undefined ? 'clamped soft' : 'ellipsis soft'} title={text}>
        {text}
      </span>
    </>
  );
}

function GivenCommand({ command, result: { done, reason = '' } }: ShownResult): JSX.Element {
  const c = useClusterMessages();
  return (
    <span class={`command-result ${done ? 'word-up' : 'is-down'}`} title={reason}>
      <span aria-hidden="true">{done ? '✓ ' : '✗ '}</span>
      {done ? c.done(command) : c.notDone(command, reason)}
    </span>
  );
}
