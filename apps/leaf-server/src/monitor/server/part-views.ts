import type { LeafModeHealth, LeafStatus } from '@leaf-ids/id';
import { worstOfProcesses } from '../../processes/merge-status';
import type { ProcessStatus } from '../../lifecycle/process-status';
import { round2 } from '../sampling/round-off';
import type { PartView } from '../views/views';

/** The parts of a process with their states. */
export function partViews({ drain, leaf }: ProcessStatus): PartView[] {
  const { segment, database, snowflake, registry } = leaf;
  const worker = snowflake?.workerId === undefined ? 'no worker' : `worker ${snowflake.workerId}`;
  return [
    part('segment', segment?.health, `${segment?.tags} ${segment?.tags === 1 ? 'tag' : 'tags'}`),
    part('database', database?.health, database?.description),
    part('snowflake', snowflake?.health, worker),
    part('registry', registry?.health, `${registry?.description}, ${worker}`),
    clock(leaf),
    part('drain', drain),
  ];
}

/** The worst of each part, and of which process it is. */
export function mergeParts(processes: readonly { readonly process: number; readonly value: PartView[] }[]): PartView[] {
  const [first] = processes;
  if (first === undefined || processes.length === 1) return first?.value ?? [];
  return first.value.map(({ name }) => {
    const parts = processes.flatMap(({ process, value }) =>
      value.filter((each) => each.name === name).map((each) => ({ process, value: each })),
    );
    const { process, value: worst } = worstOfProcesses(parts);
    const description = [...new Set(parts.map(({ value }) => value.description))].join(' · ');
    return { ...worst, description, reason: worst.reason && `Process ${process}: ${worst.reason}` };
  });
}

function clock({ snowflake }: LeafStatus): PartView {
  const offset = snowflake?.clockOffsetMs;
  const description =
    offset === undefined
      ? 'not compared with another clock'
      : `${round2(Math.abs(offset))} ms ${offset < 0 ? 'behind' : 'ahead of'} the others at the start`;
  const isBehind = snowflake?.health.code === 'LEAF_CLOCK_BACKWARDS';
  return part('clock', isBehind ? snowflake.health : snowflake && { status: 'up' }, description);
}

/** @param health undefined of what is off */
function part(name: PartView['name'], health: LeafModeHealth | undefined, description = ''): PartView {
  if (health === undefined) return { name, status: 'off', description: '', reason: null };
  return { name, status: health.status, description, reason: health.message ?? null };
}
