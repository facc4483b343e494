import { closeSync, openSync, readdirSync, readSync } from 'node:fs';

/** One window is long enough for its sampling to cost little, and short enough to show a single gap. */
const WINDOW_MS = 20;
/** Unit of the CPU times in /proc/stat. */
const MS_PER_TICK = 10;
const NS_PER_MS = 1e6;

/** Time that other work took from the main thread of a process in one window. */
export interface Loss {
  /** End of the window, in milliseconds since 1970. */
  readonly atMs: number;
  readonly lostMs: number;
}

/**
 * Samples how long the main thread of a process was ready to run but did not, less the time of its other threads, plus
 * the time that a hypervisor took. Linux only.
 */
export class CoreWatch {
  readonly losses: Loss[] = [];
  private readonly buffer = Buffer.alloc(4096);
  private readonly timer: NodeJS.Timeout;
  private before: number;

  private constructor(
    private readonly machine: number,
    private readonly main: number,
    private readonly others: readonly number[],
  ) {
    this.before = this.lost();
    this.timer = setInterval(() => this.sample(), WINDOW_MS);
  }

  /** Undefined where the kernel does not count this. */
  static start(pid: number): CoreWatch | undefined {
    try {
      const folder = `/proc/${pid}/task`;
      const threads = readdirSync(folder).map(
        (thread) => [thread, openSync(`${folder}/${thread}/schedstat`, 'r')] as const,
      );
      const fileOf = (own: boolean): number[] =>
        threads.filter(([thread]) => (thread === String(pid)) === own).map(([, file]) => file);
      return new CoreWatch(openSync('/proc/stat', 'r'), fileOf(true)[0]!, fileOf(false));
    } catch {
      return undefined;
    }
  }

  stop(): void {
    clearInterval(this.timer);
    this.sample();
    for (const file of [this.machine, this.main, ...this.others]) closeSync(file);
  }

  private sample(): void {
    const lost = this.lost();
    this.losses.push({ atMs: performance.timeOrigin + performance.now(), lostMs: Math.max(0, lost - this.before) });
    this.before = lost;
  }

  /** Since the start of the process. */
  private lost(): number {
    const waited = this.numbers(this.main)[1] ?? 0;
    const ran = this.others.reduce((sum, file) => sum + (this.numbers(file)[0] ?? 0), 0);
    const stolen = this.numbers(this.machine)[7] ?? 0;
    return (waited - ran) / NS_PER_MS + stolen * MS_PER_TICK;
  }

  /** The numbers of the first line. */
  private numbers(file: number): number[] {
    const bytes = readSync(file, this.buffer, 0, this.buffer.length, 0);
    return this.buffer
      .toString('latin1', 0, bytes)
      .split('\n', 1)[0]!
      .replace(/^cpu +/, '')
      .split(' ')
      .map(Number);
  }
}
