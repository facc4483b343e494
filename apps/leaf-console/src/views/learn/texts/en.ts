/** English texts of the page. */
export const en = {
  title: 'Why no ID repeats',
  intro:
    'A snowflake ID contains a time and a worker ID. Two servers issue the same ID only if both use one worker ID in the same millisecond. A lease prevents that: the registry records up to which time a server may use its worker ID, and the server issues nothing above that ceiling.',
  about:
    'This page runs the lease and the generator of Leaf in your browser, on simulated time. It sends nothing to the server. Turn a rule off to see what it prevents.',
  rules: 'Rules',
  unique: 'Without these, IDs repeat',
  available: 'Without this, a server waits without end',
  ruleOn: (rule: string) => `Rule ${rule} applies`,
  showWithout: (rule: string) => `Show without ${rule}`,
  freePlay: 'Free play',
  freePlayHint: 'Three servers share two worker IDs. Crash, pause and disconnect them as you like.',
  scene: (rule: string, name: string, without: boolean) => `${rule} ${name}: ${without ? 'without it' : 'with it'}`,
  replayWith: (rule: string) => `Same schedule with ${rule}`,
  replayWithout: (rule: string) => `Same schedule without ${rule}`,
  play: 'Play',
  hold: 'Pause playback',
  step: 'Step',
  toEnd: 'To the end',
  restart: 'Restart',
  steps: 'Your system asks for reduced motion, so the animation moves only when you step.',
  loading: 'Loading …',
  timeline: 'Timeline',
  axis: 'time in the IDs, in seconds',
  legendUsed: 'reserved time',
  legendId: 'ID',
  legendTwice: 'ID issued twice',
  legendNow: 'clock of the server',
  registry: 'Registry',
  record: (worker: string, holder: string, until: string) => `worker ${worker}: ${holder}, ceiling ${until} s`,
  released: (worker: string, until: string) => `worker ${worker}: free, ceiling ${until} s`,
  noRecords: 'no records',
  sameId: 'same ID',
  beyond: 'and beyond',
  summary: (lanes: string, ids: string, twice: string) => `${lanes} ${ids} IDs, ${twice} of them issued twice.`,
  lane: (process: string, worker: string, ceiling: string) => `${process} may use worker ${worker} up to ${ceiling} s.`,
  allDifferent: (ids: string) => `${ids} IDs, all different.`,
  twice: (count: string) => `${count} ${count === '1' ? 'ID was' : 'IDs were'} issued twice.`,
  twiceBy: (id: string, first: string, second: string, time: string) =>
    `${id} was issued by ${first} and by ${second}, with the time ${time} s.`,
  by: (process: string, worker: string) => `${process} as worker ${worker}`,
  andMore: (count: string) => `${count} more`,
  harmed: 'But a server is left without a worker ID.',
  servers: 'Servers',
  clockAt: (time: string) => `clock ${time} s`,
  holds: (worker: string) => `holds worker ${worker}`,
  comma: ', ',
  issuing: 'issues IDs',
  refusing: (code: string) => `refuses: ${code}`,
  isPaused: 'paused',
  isDown: 'not running',
  isCut: 'no network',
  pause: 'Pause',
  resume: 'Resume',
  crash: 'Crash',
  start: 'Start',
  stop: 'Stop',
  cut: 'Disconnect',
  connect: 'Connect',
  clockBack: 'Clock −3 s',
  clockAhead: 'Clock +3 s',
  actOn: (act: string, server: string) => `${act}: server ${server}`,
  empty: 'Lose all data',
  log: 'What happened',
  started: (process: string) => `${process} starts.`,
  waiting: (process: string) => `${process} waits before it may acquire a worker ID.`,
  acquired: (process: string, worker: string) => `${process} acquires worker ${worker}.`,
  acquireFailed: (process: string, code: string) => `${process} acquires no worker ID: ${code}.`,
  reportFailed: (process: string, code: string) => `${process} cannot report to the registry: ${code}.`,
  registeredAgain: (process: string, worker: string) => `${process} registers worker ${worker} again.`,
  gaveUp: (process: string) => `${process} can no longer prove that it holds its worker ID, and acquires another one.`,
  lost: (process: string, code: string) => `${process} has lost its lease for good: ${code}.`,
  refuses: (process: string, code: string) => `${process} refuses requests: ${code}.`,
  issues: (process: string) => `${process} issues IDs.`,
  crashed: (process: string) => `${process} crashes.`,
  stopped: (process: string) => `${process} stops and releases its worker ID.`,
  refusedToStart: (process: string, code: string) => `${process} refuses to start: ${code}.`,
  duplicate: (process: string) => `${process} issues an ID that was issued before.`,
};

/** The English texts define the keys and parameters. */
export type LearnTexts = {
  readonly [Name in keyof typeof en]: (typeof en)[Name] extends (...parameters: infer Parameters) => string
    ? (...parameters: Parameters) => string
    : string;
};

/** What a rule says, and what its scene shows. */
export interface RuleTexts {
  readonly name: string;
  readonly says: string;
  /** One for each moment of the scene. */
  readonly captions: readonly string[];
  /** The end of the scene without the rule. */
  readonly without: string;
  /** The end of the scene with the rule. */
  readonly kept: string;
}
