import type { JSX } from 'preact';
import { useClusterMessages } from '../../i18n/cluster/messages';
import { useConsole } from '../../state/context';
import { SparkLine } from '../../ui/spark-line';
import type { ShownServer } from './expired-servers';
import { capacityFor, isUnanswered, sumOfRates, totalRate } from './server-rates';
import type { ServerRow } from './server-sorting';

/** The sums over all servers, and what differs between them. */
export function SummaryTiles({ rows }: { readonly rows: readonly ServerRow[] }): JSX.Element {
  const { format } = useConsole();
  const c = useClusterMessages();
  const servers = rows.map(({ server }) => server);
  const answering = servers.filter((server) => !isUnanswered(server) && server.state !== 'unasked').length;
  const errors = sumOf(servers, ({ errorsPerSecond = 0 }) => errorsPerSecond);
  const versions = [...new Set(servers.flatMap(({ version }) => version ?? []))].sort();
  const sums = sumOfRates(rows.map(({ rates }) => rates));
  const offsets = servers.flatMap(({ snowflake }) => snowflake?.clockOffsetMs ?? []).map(Math.abs);
  return (
    <dl class="tiles overview-tiles">
      <div class="tile">
        <dt>{c.answering}</dt>
        <dd class={servers.some(isUnanswered) ? 'is-down' : ''}>
          {c.answeringOf(format.count(answering), format.count(servers.length))}
        </dd>
      </div>
      <div class="tile tile-main">
        <dt>{c.idsPerSecond}</dt>
        <dd>
          {format.rate(sumOf(servers, totalRate))} <SparkLine values={sums} capacity={capacityFor(sums)} />
        </dd>
      </div>
      <div class="tile">
        <dt>{c.errorsPerSecond}</dt>
        <dd class={errors > 0 ? 'is-down' : ''}>{format.rate(errors)}</dd>
      </div>
      <div class="tile">
        <dt>{c.clockSpread}</dt>
        <dd>{offsets.length === 0 ? '–' : format.milliseconds(Math.max(...offsets))}</dd>
      </div>
      <div class="tile">
        <dt>{c.versions}</dt>
        <dd class="words">{versions.length === 0 ? '–' : versions.join(', ')}</dd>
      </div>
    </dl>
  );
}

function sumOf(servers: readonly ShownServer[], value: (server: ShownServer) => number): number {
  return servers.reduce((sum, server) => sum + value(server), 0);
}
