import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { useClusterMessages } from '../../i18n/cluster/messages';
import type { ClusterAnswer } from '../../monitor/views';
import { useConsole } from '../../state/context';
import { Choice, Field } from '../../ui/field';
import { type Sorting, VirtualTable } from '../../ui/virtual-table';
import { SparkLine } from '../../ui/spark-line';
import type { ShownServer } from './expired-servers';
import { CommandDialog } from './command-dialog';
import { useServerColumns } from './server-columns';
import {
  capacityFor,
  isUnanswered,
  selectServers,
  type ServerColumn,
  type ServerRates,
  type ServerRow,
  type ShownResult,
  type ShownServers,
  sumOfRates,
  totalRate,
} from './server-sorting';

const ROW_HEIGHT = 60;
const NARROW_ROW_HEIGHT = 264;

interface ServersViewProps {
  readonly answer: ClusterAnswer;
  readonly expired: readonly ShownServer[];
  readonly rates: ServerRates;
}

/** The servers that the registry knows, and commands to them. */
export function ServersView({ answer, expired, rates }: ServersViewProps): JSX.Element {
  const { format } = useConsole();
  const c = useClusterMessages();
  const [search, setSearch] = useState('');
  const [shown, setShown] = useState<ShownServers>('all');
  const [sorting, setSorting] = useState<Sorting<ServerColumn>>({ by: 'server', descending: false });
  /** The instance that gets the command, or `''` for all; undefined while the dialog is closed. */
  const [target, setTarget] = useState<string | undefined>(undefined);
  const [results, setResults] = useState<readonly ShownResult[]>([]);
  const columns = useServerColumns(answer.now, setTarget);
  const rows = [...answer.servers, ...expired].map((server): ServerRow => {
    const given = results.find(({ result }) => result.instance === server.instance);
    return { server, rates: rates.of(server.instance), shown: given };
  });
  const items = selectServers(rows, search, shown, sorting);
  const sortable = columns.filter((column) => column.sortable !== false);
  return (
    <>
      <SummaryTiles rows={rows} />
      <Notes answer={answer} results={results} onDismiss={() => setResults([])} />
      <div class="toolbar">
        <Field class="search" label={c.search} type="search" value={search} onValue={setSearch} />
        <Choice
          label={c.show}
          value={shown}
          onValue={setShown}
          options={[
            ['all', c.showAll],
            ['trouble', c.showTrouble],
            ['ready', c.showReady],
          ]}
        />
        <Choice
          class="narrow-only"
          label={c.sort}
          value={sorting.by}
          onValue={(by) => setSorting({ by, descending: by === 'rate' || by === 'tags' })}
          options={sortable.map(({ name, label }) => [name, label] as const)}
        />
        <button type="button" onClick={() => setTarget('')}>
          {c.commandAll} …
        </button>
        <p class="count" role="status">
          {c.countOf(format.count(items.length), format.count(rows.length))}
        </p>
      </div>
      {items.length === 0 ? (
        <p class="waiting">{c.noMatch}</p>
      ) : (
        <ServerTable {...{ items, columns, sorting, setSorting }} />
      )}
      {target !== undefined && (
        <CommandDialog
          servers={answer.servers}
          target={target}
          onDone={(given) => {
            setResults(given);
            setTarget(undefined);
          }}
          onClose={() => setTarget(undefined)}
        />
      )}
    </>
  );
}

interface ServerTableProps {
  readonly items: readonly ServerRow[];
  readonly columns: ReturnType<typeof useServerColumns>;
  readonly sorting: Sorting<ServerColumn>;
  readonly setSorting: (sorting: Sorting<ServerColumn>) => void;
}

function ServerTable({ items, columns, sorting, setSorting }: ServerTableProps): JSX.Element {
  const { t } = useConsole();
  const c = useClusterMessages();
  return (
    <VirtualTable<ServerRow, ServerColumn>
      label={c.servers}
      class="servers-table"
      items={items}
      keyOf={({ server }) => server.instance}
      columns={columns}
      rowHeight={ROW_HEIGHT}
      narrowRowHeight={NARROW_ROW_HEIGHT}
      sorting={sorting}
      onSort={setSorting}
      sortLabel={t.sortBy}
    />
  );
}

interface NotesProps {
  readonly answer: ClusterAnswer;
  readonly results: readonly ShownResult[];
  readonly onDismiss: () => void;
}

function Notes({ answer: { asked, servers }, results, onDismiss }: NotesProps): JSX.Element {
  const { format } = useConsole();
  const c = useClusterMessages();
  const done = results.filter(({ result }) => result.done).length;
  const command = results[0]?.command ?? '';
  return (
    <>
      {!asked && <p class="note note-degraded">{c.tokenMissing}</p>}
      {asked && servers.length === 1 && <p class="hint">{c.onlyOne}</p>}
      <div
        role="status"
        class={results.length === 0 ? 'unseen' : `note note-acts note-${done === results.length ? 'up' : 'degraded'}`}
      >
        {results.length > 0 && (
          <>
            <span>{c.doneOn(command, format.count(done), format.count(results.length))}</span>
            <button type="button" class="quiet" onClick={onDismiss}>
              {c.dismiss}
            </button>
          </>
        )}
      </div>
    </>
  );
}

/** The sums over all servers, and what differs between them. */
function SummaryTiles({ rows }: { readonly rows: readonly ServerRow[] }): JSX.Element {
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
