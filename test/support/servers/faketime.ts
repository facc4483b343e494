import { rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { requireTool } from '../tools';

/** A wall clock that a test can step while a process uses it. Timers and the monotonic clock are not affected. */
export class SteppedClock {
  private constructor(
    private readonly file: string,
    /** For the process alone: its children would inherit it. */
    readonly env: Readonly<Record<string, string>>,
  ) {}

  /** One that is right, kept in a file below `directory`. */
  static async create(directory: string): Promise<SteppedClock> {
    const file = join(directory, 'clock');
    const clock = new SteppedClock(file, {
      ...(await preload()),
      FAKETIME_TIMESTAMP_FILE: file,
      FAKETIME_NO_CACHE: '1',
    });
    await clock.set(0);
    return clock;
  }

  /** Puts it `offsetMs` ahead of the true time, or behind it. */
  async set(offsetMs: number): Promise<void> {
    const next = `${this.file}.next`;
    await writeFile(next, signed(offsetMs));
    await rename(next, this.file);
  }
}

/** Variables for a process whose wall clock is ahead of the true time, always by as much. */
export async function shiftedClock(offsetMs: number): Promise<Readonly<Record<string, string>>> {
  return { ...(await preload()), FAKETIME: signed(offsetMs) };
}

async function preload(): Promise<Record<string, string>> {
  const library = await requireTool('libfaketime.so.1');
  return { LD_PRELOAD: library, FAKETIME_DONT_FAKE_MONOTONIC: '1' };
}

/** In seconds; without a sign it would be a date. */
function signed(offsetMs: number): string {
  return `${offsetMs < 0 ? '-' : '+'}${(Math.abs(offsetMs) / 1000).toFixed(3)}`;
}
