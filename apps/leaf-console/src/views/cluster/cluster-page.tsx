import type { JSX } from 'preact';
import { useRef, useState } from 'preact/hooks';
import { useClusterMessages } from '../../i18n/cluster/messages';
import type { ClusterAnswer, ClusterWorkers } from '../../monitor/views';
import { useConsole } from '../../state/context';
import { hrefOf } from '../../state/route';
import { ProblemNote } from '../../ui/note';
import './cluster.css';
import { DatabasesView } from './databases-view';
import { expiredServers } from './expired-servers';
import { ServerRates } from './server-sorting';
import { ServersView } from './servers-view';
import { usePolled } from './use-polled';
import { WorkersView } from './workers-view';

/** Interval between two requests for the servers, in milliseconds. */
const EVERY_MS = 2000;
/** Interval between two requests for the worker IDs, in milliseconds. */
const WORKERS_EVERY_MS = 5000;
const TABS = ['', 'workers', 'databases'] as const;

/** All servers, worker IDs and databases. `tab` is the rest of the route. */
export function ClusterPage({ tab }: { readonly tab: string }): JSX.Element {
  const c = useClusterMessages();
  const shown = TABS.find((name) => name === tab) ?? '';
  const labels = { '': c.servers, workers: c.workerIds, databases: c.databases };
  return (
    <section class="filling" aria-label={labels[shown]}>
      <ul class="tabs">
        {TABS.map((name) => (
          <li key={name}>
            <a href={hrefOf('cluster', name)} aria-current={name === shown ? 'true' : undefined}>
              {labels[name]}
            </a>
          </li>
        ))}
      </ul>
      {shown === '' && <Servers />}
      {shown === 'workers' && <WorkersView />}
      {shown === 'databases' && <DatabasesView />}
    </section>
  );
}

function Servers(): JSX.Element {
  const c = useClusterMessages();
  const { format } = useConsole();
  const { answer, at, problem } = usePolled<ClusterAnswer>('api/cluster', EVERY_MS);
  const workers = usePolled<ClusterWorkers>('api/cluster/workers', WORKERS_EVERY_MS);
  const [rates] = useState(() => new ServerRates());
  const taken = useRef(0);
  if (answer === undefined) return problem ? <ProblemNote problem={problem} /> : <p class="waiting">{c.loading}</p>;
  if (taken.current !== at) {
    rates.take(answer);
    taken.current = at;
  }
  const expired = workers.answer === undefined ? [] : expiredServers(workers.answer, answer.servers);
  return (
    <>
      {problem !== undefined && (
        <p role="alert" class="note note-down">
          {c.answerOld(format.clock(at))}
        </p>
      )}
      <ServersView {...{ answer, expired, rates }} />
    </>
  );
}
