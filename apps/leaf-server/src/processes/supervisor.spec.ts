import { FakeClock } from '@leaf-ids/core/testing';
import type { Exit, Forked, ForkEvents } from './child';
import type { ProcessCommand, Report } from './messages';
import { type ServerEnd, Supervisor } from './supervisor';

const STOP_LIMIT_MS = 10_000;
const CLEAN: Exit = { code: 0, signal: null };
const KILLED: Exit = { code: null, signal: 'SIGKILL' };

class FakeProcess {
  readonly commands: ProcessCommand[] = [];
  killed = false;
  hangs = false;

  constructor(
    readonly number: number,
    private readonly events: ForkEvents,
  ) {}

  takes(command: ProcessCommand): void {
    if (command.kind !== 'ping') this.commands.push(command);
    else if (!this.hangs) this.says({ kind: 'pong' });
  }

  says(report: Report): void {
    this.events.onReport(report);
  }

  ends(exit: Exit): void {
    this.events.onExit(exit);
  }

  comesUp(): void {
    this.says({ kind: 'prepared' });
    this.says({ kind: 'listening', place: 'http://127.0.0.1:1' });
  }

  kinds(): string[] {
    return this.commands.map(({ kind }) => kind);
  }
}

describe('Supervisor', () => {
  let clock: FakeClock;
  let forked: FakeProcess[];
  let lines: string[];
  let supervisor: Supervisor;

  beforeEach(() => {
    clock = new FakeClock();
    forked = [];
    lines = [];
    const note = (line: string): void => void lines.push(line);
    const fork = (number: number, events: ForkEvents): Forked => {
      const child = new FakeProcess(number, events);
      forked.push(child);
      const send = (command: ProcessCommand): void => child.takes(command);
      const kill = (): void => {
        child.killed = true;
        child.ends(KILLED);
      };
      return { pid: 1000 + forked.length, send, kill };
    };
    const options = { processes: 3, stopLimitMs: STOP_LIMIT_MS };
    // Always the longest pause.
    supervisor = new Supervisor(options, fork, clock, (below) => below - 1, { log: note, warn: note, error: note });
  });

  const settle = (): Promise<void> => clock.advance(0);
  const child = (index: number): FakeProcess => forked[index]!;

  async function start(): Promise<{ readonly ended: Promise<ServerEnd> }> {
    const ended = supervisor.run();
    await settle();
    child(0).comesUp();
    await settle();
    child(1).comesUp();
    child(2).comesUp();
    await settle();
    return { ended };
  }

  it('lets the first prepare alone, and all listen together', async () => {
    void supervisor.run();
    await settle();
    expect(forked.map(({ number }) => number)).toEqual([0]);
    child(0).says({ kind: 'prepared' });
    await settle();
    expect(forked.map(({ number }) => number)).toEqual([0, 1, 2]);
    child(1).says({ kind: 'prepared' });
    await settle();
    expect(child(0).commands).toStrictEqual([]);
    child(2).says({ kind: 'prepared' });
    await settle();
    for (const each of forked) expect(each.commands).toEqual([{ kind: 'listen', whenReady: false }]);
  });

  it('ends with the words and the code of a first one that cannot start, and starts no other', async () => {
    const ended = supervisor.run();
    await settle();
    child(0).says({ kind: 'failed', reason: 'LEAF_CONFIG_INVALID: no' });
    child(0).ends({ code: 3, signal: null });
    expect(await ended).toEqual({ code: 3, fault: 'LEAF_CONFIG_INVALID: no' });
    expect(forked).toHaveLength(1);
    await clock.advance(60_000);
    expect(forked).toHaveLength(1);
  });

  it('ends the others when one of them cannot start', async () => {
    const ended = supervisor.run();
    await settle();
    child(0).says({ kind: 'prepared' });
    await settle();
    child(2).ends(KILLED);
    await settle();
    expect(child(0).kinds()).toEqual(['stop']);
    expect(child(1).kinds()).toEqual(['stop']);
    child(0).ends(CLEAN);
    child(1).ends(CLEAN);
    expect(await ended).toMatchObject({ code: 1, fault: expect.stringContaining('ended by SIGKILL') });
  });

  it('replaces one that has ended, with a pause that grows while that goes on', async () => {
    await start();
    const pauses: number[] = [];
    for (let round = 0; round < 8; round++) {
      const before = clock.monotonic();
      const known = forked.length;
      (round === 0 ? child(1) : child(known - 1)).ends(KILLED);
      await settle();
      while (forked.length === known) await clock.advance(50);
      pauses.push(clock.monotonic() - before);
      expect(forked.at(-1)?.number).toBe(1);
    }
    expect(pauses).toEqual([100, 200, 400, 800, 1600, 3200, 5000, 5000]);
  });

  it('forgets earlier ends once a process has listened for a minute', async () => {
    await start();
    child(1).ends(KILLED);
    await clock.advance(100);
    child(3).comesUp();
    await clock.advance(60_000);
    child(3).ends(KILLED);
    await clock.advance(99);
    expect(forked).toHaveLength(4);
    await clock.advance(1);
    expect(forked).toHaveLength(5);
  });

  it('lets a replacement listen when it is ready, or at once when nobody else serves any more', async () => {
    await start();
    child(1).ends(KILLED);
    await clock.advance(100);
    child(3).says({ kind: 'prepared' });
    await settle();
    expect(child(3).commands).toEqual([{ kind: 'listen', whenReady: true }]);
    child(0).ends(KILLED);
    expect(child(3).commands).toHaveLength(1);
    child(2).ends(KILLED);
    expect(child(3).commands.at(-1)).toEqual({ kind: 'listen', whenReady: false });
  });

  it('kills one that hangs, says so, and replaces it', async () => {
    await start();
    await clock.advance(300_000);
    expect(forked.some(({ killed }) => killed)).toBe(false);
    child(1).hangs = true;
    await clock.advance(25_000);
    expect(child(1).killed).toBe(false);
    await clock.advance(10_100);
    expect(forked.map(({ killed }) => killed)).toEqual([false, true, false, false]);
    expect(forked.at(-1)?.number).toBe(1);
    expect(lines).toContainEqual('Process 1 (1002) has not answered for 30000 ms: it is killed.');
  });

  it('kills one that hangs before it is prepared, and replaces it', async () => {
    await start();
    child(1).ends(KILLED);
    await clock.advance(100);
    child(3).hangs = true;
    await clock.advance(25_000);
    expect(child(3).killed).toBe(false);
    await clock.advance(10_300);
    expect(child(3).killed).toBe(true);
    expect(forked.at(-1)).toMatchObject({ number: 1, killed: false });
    expect(lines).toContainEqual('Process 1 (1004) has not answered for 30000 ms: it is killed.');
  });

  it('ends the start when the first one hangs before it is prepared', async () => {
    const ended = supervisor.run();
    await settle();
    child(0).hangs = true;
    await clock.advance(35_000);
    expect(await ended).toMatchObject({ code: 1, fault: expect.stringContaining('ended by SIGKILL') });
    expect(forked).toHaveLength(1);
  });

  it('kills none that answers late, or that hangs while the server stops', async () => {
    await start();
    for (let round = 0; round < 4; round++) {
      child(1).hangs = true;
      await clock.advance(25_000);
      child(1).hangs = false;
      await clock.advance(10_000);
    }
    expect(forked).toHaveLength(3);
    child(1).hangs = true;
    void supervisor.stop({ drain: true });
    await settle();
    expect(clock.sleeping).toBe(1);
    expect(child(1).killed).toBe(false);
  });

  it('stops all, replaces none, and ends when the last has ended', async () => {
    const { ended } = await start();
    void supervisor.stop({ drain: true });
    for (const each of forked) expect(each.commands.at(-1)).toEqual({ kind: 'stop', drain: true });
    for (const each of forked) each.ends(CLEAN);
    expect(await ended).toEqual({ code: 0, fault: undefined });
    await clock.advance(60_000);
    expect(forked).toHaveLength(3);
    expect(clock.sleeping).toBe(0);
  });

  it('does not wait for the pause of one that is to be replaced when it stops', async () => {
    const { ended } = await start();
    child(1).ends(KILLED);
    await settle();
    void supervisor.stop({ drain: false });
    child(0).ends(CLEAN);
    child(2).ends(CLEAN);
    expect(await ended).toEqual({ code: 0, fault: undefined });
    expect(forked).toHaveLength(3);
  });

  it('kills those that do not end in time, and says so', async () => {
    const { ended } = await start();
    void supervisor.stop({ drain: false });
    child(0).ends(CLEAN);
    await clock.advance(STOP_LIMIT_MS - 1);
    expect(forked.some(({ killed }) => killed)).toBe(false);
    await clock.advance(1);
    expect(child(1).killed).toBe(true);
    expect(await ended).toEqual({ code: 1, fault: undefined });
    expect(lines.at(-1)).toContain(`Not all processes have ended in ${STOP_LIMIT_MS} ms`);
  });

  it('takes a stop during the start', async () => {
    const ended = supervisor.run();
    await settle();
    void supervisor.stop({ drain: true });
    child(0).ends(CLEAN);
    expect(await ended).toEqual({ code: 0, fault: undefined });
    expect(forked).toHaveLength(1);
  });

  describe('passes questions on', () => {
    const ask: Report = { kind: 'ask', id: 7, topic: 'state', question: 'how' };
    const idOf = (index: number): number => (child(index).commands.at(-1) as { id: number }).id;

    beforeEach(async () => {
      await start();
      child(0).says(ask);
    });

    const replies = async (): Promise<ProcessCommand | undefined> => {
      await settle();
      return child(0).commands.at(-1);
    };

    it('to all others, and their answers back', async () => {
      child(1).says({ kind: 'answer', id: idOf(1), value: 'well' });
      expect((await replies())?.kind).toBe('listen');
      child(2).says({ kind: 'no answer', id: idOf(2), reason: 'it broke' });
      expect(await replies()).toEqual({
        kind: 'replies',
        id: 7,
        replies: [
          { process: 1, value: 'well' },
          { process: 2, missing: 'it broke', gone: false },
        ],
      });
    });

    it('and names those that do not answer, have ended, or are being replaced', async () => {
      child(1).ends(KILLED);
      await clock.advance(1000);
      expect(await replies()).toMatchObject({
        replies: [
          { process: 1, missing: 'it has ended', gone: true },
          { process: 2, missing: 'it did not answer within 1000 ms', gone: false },
        ],
      });
      child(2).says({ ...ask, id: 8 });
      child(0).says({ kind: 'answer', id: idOf(0), value: 'well' });
      await settle();
      expect(child(2).commands.at(-1)).toMatchObject({
        id: 8,
        replies: [
          { process: 0, value: 'well' },
          { process: 1, missing: 'it is being replaced', gone: true },
        ],
      });
    });

    it('and lets nobody answer for another one', async () => {
      child(2).says({ kind: 'answer', id: idOf(1), value: 'forged' });
      child(1).says({ kind: 'answer', id: idOf(1), value: 'own' });
      child(2).says({ kind: 'answer', id: idOf(2), value: 'well' });
      expect(await replies()).toMatchObject({ replies: [{ value: 'own' }, { value: 'well' }] });
    });
  });
});
