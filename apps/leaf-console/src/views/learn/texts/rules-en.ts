import type { RuleName } from '../scenes';
import type { RuleTexts } from './en';

export const rulesEn: Readonly<Record<RuleName, RuleTexts>> = {
  R1: {
    name: 'Reserve ahead',
    says: 'A server issues no ID above the ceiling that the registry has recorded.',
    captions: [
      'A acquires worker 0. The registry records a ceiling 6 s ahead, and A raises it every 2 s. B finds no free worker ID.',
      'A loses its network: it cannot raise the ceiling any more.',
      'The ceiling of A has passed. B has acquired worker 0.',
    ],
    without: 'A issued IDs above its recorded ceiling, while B already held worker 0.',
    kept: 'A refused requests above its ceiling (LEAF_LEASE_EXPIRED). B could safely use worker 0.',
  },
  R2: {
    name: 'Start after',
    says: 'A new holder issues only IDs with a time above the ceiling that it has read.',
    captions: [
      'A holds worker 1. Its ceiling is up to 6 s ahead of its clock.',
      'A crashes, and its clock steps back by 3 s.',
      'A starts again, as A2.',
    ],
    without: 'A2 started at its clock, and used times that A had already used.',
    kept: 'A2 waited until its clock had passed the recorded ceiling.',
  },
  R3: {
    name: 'Compare and set',
    says: 'Every write states the version that was read. If another server has written since, the write fails.',
    captions: [
      'A holds worker 0, and B waits.',
      'A is paused: a long garbage collection, or a suspended virtual machine.',
      'A has not reported for 6 s, and its ceiling has passed. B has acquired worker 0.',
      'A resumes. Its next write finds the record of B.',
    ],
    without: 'A adopted the record of B as its own, and continued with worker 0.',
    kept: 'The write of A failed. A gave up worker 0 before it issued another ID.',
  },
  R4: {
    name: 'Release',
    says: 'A server that stops records the time of its newest ID as the ceiling.',
    captions: [
      'A holds worker 0. B is not running; its clock is 3 s behind.',
      'A stops and releases worker 0.',
      'B starts and looks for a free worker ID.',
    ],
    without: 'The released ceiling was below the newest ID of A. B used the same times again.',
    kept: 'B acquired worker 0 only when its own clock had passed the newest ID of A.',
  },
  R5: {
    name: 'Young history',
    says: 'In a registry that may have lost data, newcomers wait until holders have registered again.',
    captions: [
      'A holds worker 0.',
      'The registry loses all its data. A does not know it yet.',
      'B starts and finds an empty registry.',
    ],
    without: 'B acquired worker 0 at once, while A still had reserved time.',
    kept: 'B waited, and A registered worker 0 again with its next report.',
  },
  R6: {
    name: 'One layout',
    says: 'All servers of a registry use the same bit layout.',
    captions: [
      'B starts with another layout: 9 worker bits and 13 sequence bits instead of 10 and 12.',
      'A starts with the layout of the registry.',
    ],
    without: 'Worker 1 in the layout of B creates the same numbers as worker 2 in the layout of A.',
    kept: 'B refused to start (LEAF_LAYOUT_MISMATCH).',
  },
  R7: {
    name: 'Two kinds of loss',
    says: 'After the registry has lost writes, a holder registers again only while its ceiling has not passed.',
    captions: [
      'A holds worker 0, and B waits.',
      'A is paused.',
      'The replica of the registry no longer receives writes.',
      'The ceiling of A has passed, and B has acquired worker 0. The replica does not know that.',
      'The registry fails over to the replica: the write of B is lost, and the record of A is back. A resumes.',
    ],
    without: 'A found its own record and continued, although B had taken over worker 0 meanwhile.',
    kept: 'A found a new history, and its ceiling had passed: it gave up worker 0.',
  },
  R8: {
    name: 'The newcomer loses',
    says: 'A server that finds a running server with its own address refuses to start.',
    captions: [
      'A holds worker 1.',
      'B starts with the address of A, by a mistake in its configuration.',
      'A writes its record every 2 s, so B can tell that A is running.',
    ],
    without: 'B waits for worker 1 without end, and reports no error.',
    kept: 'B refused to start (LEAF_WORKER_HELD). A was not affected.',
  },
  R9: {
    name: 'The ceiling may fall',
    says: 'A report sets the ceiling to the clock plus the horizon, even if that lowers it.',
    captions: [
      'A holds worker 0.',
      'The clock of A steps ahead by 12 s. A reports: the recorded ceiling is 12 s too high.',
      'The clock of A is correct again.',
      'A loses its network, and the registry loses its data. B starts, and waits as rule R5 requires.',
      'B has acquired worker 0: every ceiling that a correct clock has set has passed.',
    ],
    without: 'A still had the ceiling of its wrong clock, and issued IDs while B held worker 0.',
    kept: 'The next report had lowered the ceiling. A refused requests before B acquired worker 0.',
  },
  R10: {
    name: 'Own stopwatch',
    says: 'A server reclaims a record that has not changed for 6 s by its monotonic clock, not by its wall clock.',
    captions: [
      'A holds worker 0, and B waits.',
      'A loses its network for a short time. It still has reserved time.',
      'The wall clock of B steps ahead by 8 s.',
      'The registry loses its data. A has its network again, and can register worker 0 again.',
      'A holds worker 0.',
    ],
    without: 'By its wrong clock, B had reclaimed worker 0 too early and used times in the future. A used them later.',
    kept: 'B measured with its monotonic clock, and did not reclaim worker 0.',
  },
};
