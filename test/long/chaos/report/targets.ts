import type { Summary } from './summary';
import { recoveryBoundOf } from '../history/recovery-bounds';
import { percent, seconds } from './tables';

/** Of an idle machine with two cores. */
const SEGMENT = 0.999;

/** What a run was meant to reach, and whether it did, line by line. */
export function targetsOf({ segment, kinds }: Summary): string[] {
  const slow = kinds.flatMap(({ kind, recoveryMs }) =>
    recoveryMs !== undefined && recoveryMs.max > recoveryBoundOf(kind) ? [`${kind} ${seconds(recoveryMs.max)}`] : [],
  );
  const recovery = 'every recovery from one fault within its bound';
  return [
    `${segment >= SEGMENT ? 'met' : 'MISSED'}: segment calls answered at least to ${percent(SEGMENT)}`,
    slow.length === 0 ? `met: ${recovery}` : `MISSED: ${recovery}, but for ${slow.join(', ')}`,
  ];
}
