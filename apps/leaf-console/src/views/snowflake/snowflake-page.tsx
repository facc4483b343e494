import type { JSX } from 'preact';
import { useConsole, useMonitor } from '../../state/context';
import type { SnowflakeView, WorkerView } from '../../monitor/views';
import { Ago, Exact } from '../../ui/exact';

const DAY_MS = 86_400_000;

export function SnowflakePage(): JSX.Element {
  const { t } = useConsole();
  const { snowflake } = useMonitor();
  if (snowflake === undefined) return <p class="waiting">{t.connectingToServer}</p>;
  if (!snowflake.enabled) return <p class="waiting">{t.modeOff(t.snowflakeMode)}</p>;
  const { worker } = snowflake;
  return (
    <>
      <Troubles view={snowflake} />
      {worker !== null && (
        <>
          <WorkerCard worker={worker} />
          <LeaseBar worker={worker} />
          <div class="columns">
            <ClockCard worker={worker} />
            <PeersCard worker={worker} />
          </div>
        </>
      )}
    </>
  );
}

function Troubles({ view: { refusal, worker } }: { readonly view: SnowflakeView }): JSX.Element {
  const { t } = useConsole();
  const lost = worker?.lost ?? null;
  const trouble = worker?.trouble ?? null;
  return (
    <div role="alert" class={(refusal ?? lost ?? trouble) ? 'troubles' : 'unseen'}>
      {refusal !== null && (
        <p class="note note-down">
          <strong>{t.refusal}</strong> {refusal.detail} <span class="code">{refusal.code}</span>
        </p>
      )}
      {lost !== null && (
        <p class="note note-down">
          <strong>{t.leaseLost}</strong> {lost}
        </p>
      )}
      {trouble !== null && (
        <p class="note note-degraded">
          <strong>{t.trouble}:</strong> {trouble}
        </p>
      )}
    </div>
  );
}

function WorkerCard({ worker }: { readonly worker: WorkerView }): JSX.Element {
  const { t, format } = useConsole();
  const { workerId, minWorkerId, maxWorkerId, registry, instance, issued, report } = worker;
  return (
    <dl class="tiles">
      <div class="tile tile-main">
        <dt>{t.workerId}</dt>
        <dd>
          {workerId ?? '–'} <small>{t.workerOf(String(minWorkerId), String(maxWorkerId))}</small>
        </dd>
      </div>
      <div class="tile">
        <dt>{t.registry}</dt>
        <dd class="words">{registry}</dd>
      </div>
      <div class="tile">
        <dt>{t.instance}</dt>
        <dd class="words">{instance}</dd>
      </div>
      <div class="tile">
        <dt>{t.lastReport}</dt>
        <dd class="words">{report.at === null ? t.never : <Ago at={report.at} />}</dd>
      </div>
      <div class="tile">
        <dt>{t.reportFailures}</dt>
        <dd class={report.error === null ? '' : 'is-down'}>
          {format.count(report.failures)}
          {report.error !== null && <small> {report.error}</small>}
        </dd>
      </div>
      <div class="tile">
        <dt>{t.issued}</dt>
        <dd>
          <Exact exact={format.count(issued)}>{format.short(issued)}</Exact>
        </dd>
      </div>
    </dl>
  );
}

function ClockCard({ worker }: { readonly worker: WorkerView }): JSX.Element {
  const { t, format } = useConsole();
  const store = useMonitor();
  const { clock, layout } = worker;
  const { offsetMs } = clock;
  const days = Math.floor((layout.endsAt - store.now()) / DAY_MS);
  const { timeBits, workerBits, datacenterBits, sequenceBits } = layout;
  const parts = datacenterBits === 0 ? workerBits : `${datacenterBits}+${workerBits - datacenterBits}`;
  const bits = [timeBits, parts, sequenceBits].map(String);
  return (
    <section class="card" aria-label={t.clock}>
      <h2>{t.clock}</h2>
      <dl class="facts">
        <div title={t.clockOffsetHint}>
          <dt>{t.clockOffset}</dt>
          <dd>{offsetMs === null ? t.unknown : `${offsetMs > 0 ? '+' : ''}${offsetMs.toFixed(1)} ms`}</dd>
        </div>
        <div>
          <dt>{t.backwardsSteps}</dt>
          <dd>{format.count(clock.backwardsSteps)}</dd>
        </div>
        <div>
          <dt>{t.layout}</dt>
          <dd>{t.bits(bits[0] ?? '', bits[1] ?? '', bits[2] ?? '')}</dd>
        </div>
        <div>
          <dt>{t.epoch}</dt>
          <dd>{format.utc(layout.epoch)}</dd>
        </div>
        <div>
          <dt>{t.epochEnd}</dt>
          <dd>
            {t.inDays(format.count(days))} <small>{format.utc(layout.endsAt)}</small>
          </dd>
        </div>
      </dl>
    </section>
  );
}

function PeersCard({ worker: { peers, instance } }: { readonly worker: WorkerView }): JSX.Element {
  const { t } = useConsole();
  return (
    <section class="card" aria-label={t.peers}>
      <h2>{t.peers}</h2>
      {peers.length === 0 ? (
        <p class="soft">{t.noPeers}</p>
      ) : (
        <ul class="peers">
          {peers.map((peer) => (
            <li key={peer.instance}>
              <span class="mono">{peer.instance}</span>
              {peer.instance === instance && <span class="badge badge-plain">{t.thisServer}</span>}
              <span class="num">{peer.workerId === null ? '–' : `${t.worker} ${peer.workerId}`}</span>
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}

/** The reserved time as a bar. It fills as time passes, and empties when the ceiling is raised. */
function LeaseBar({ worker }: { readonly worker: WorkerView }): JSX.Element {
  const { t, format } = useConsole();
  const store = useMonitor();
  const { floor, ceiling, horizonMs } = worker;
  const now = store.now();
  const left = ceiling - now;
  const used = Math.min(1, Math.max(0, 1 - left / horizonMs));
  const level = left <= 0 ? 'red' : left < horizonMs / 3 ? 'amber' : 'calm';
  return (
    <section class="card" aria-label={t.lease}>
      <h2>{t.lease}</h2>
      <div
        class={`lease lease-${level}`}
        role="meter"
        aria-label={t.reservedAhead}
        aria-valuemin={0}
        aria-valuemax={horizonMs}
        aria-valuenow={Math.round(Math.min(horizonMs, Math.max(0, left)))}
        aria-valuetext={t.leaseBar(format.milliseconds(Math.max(0, left)))}
      >
        <i class="lease-used" style={{ width: `${used * 100}%` }} />
      </div>
      <dl class="lease-ends">
        <div>
          <dt>{t.floor}</dt>
          <dd>{floor <= 0 ? t.none : format.local(floor)}</dd>
        </div>
        <div>
          <dt>{t.now}</dt>
          <dd>
            {format.local(now)} · {t.leaseBar(format.milliseconds(Math.max(0, left)))}
          </dd>
        </div>
        <div>
          <dt>{t.ceiling}</dt>
          <dd>{ceiling <= 0 ? t.none : format.local(ceiling)}</dd>
        </div>
      </dl>
      <p class="hint">{t.leaseHint}</p>
    </section>
  );
}
