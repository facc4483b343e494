import { FakeClock } from '../../clock/fake-clock';
import { LeafError } from '../../errors/leaf-error';
import { checkClock, type ClockCheck } from './clock-check';
import type { TimeSource } from '../records/worker-store';

const NOW = 1_700_000_000_000;
const options = { maxOffsetMs: 5000, limitMs: 1000 };
let clock: FakeClock;

beforeEach(() => {
  clock = new FakeClock(NOW);
});

/** A server whose clock differs from ours by `theirOffset`, with the given latencies of request and response. */
function server(theirOffset: number, thereMs = 0, backMs = 0, name = 'peer'): TimeSource {
  return {
    name,
    ask: async () => {
      await clock.sleep(thereMs);
      const theirs = clock.now() + theirOffset;
      await clock.sleep(backMs);
      return theirs;
    },
  };
}

function answering(answer: number): TimeSource {
  return { name: 'odd', ask: () => Promise.resolve(answer) };
}

/** Checks, and advances time by `ms` meanwhile. */
async function check(sources: TimeSource[], ms = 2000): Promise<ClockCheck | LeafError> {
  const checked = checkClock(sources, clock, options).catch((error: unknown) => error as LeafError);
  await clock.advance(ms);
  return checked;
}

async function refusal(sources: TimeSource[]): Promise<string> {
  const error = await check(sources);
  expect(error).toBeInstanceOf(LeafError);
  expect(error).toMatchObject({ code: 'LEAF_CLOCK_OFFSET' });
  return (error as LeafError).message;
}

describe('checkClock', () => {
  it('accepts having no sources', async () => {
    await expect(check([])).resolves.toEqual({ asked: 0, answered: 0, offsetMs: undefined });
  });

  it.each([
    ['behind', 4000, -4000],
    ['ahead of', -4000, 4000],
  ])('says how far we are %s the others', async (_, theirs, offsetMs) => {
    await expect(check([server(theirs, 1, 1)])).resolves.toEqual({ asked: 1, answered: 1, offsetMs });
  });

  it('uses the median', async () => {
    await expect(check([server(-1000), server(4000), server(-6000)])).resolves.toMatchObject({ offsetMs: 1000 });
    const offsets = [4000, -6000, -100, 9000, -2000, 300, -5000];
    await expect(check(offsets.map((offset) => server(offset)))).resolves.toMatchObject({ offsetMs: 100 });
  });

  it('tolerates one wrong clock among many correct ones', async () => {
    const near = Array.from({ length: 9 }, () => server(0));
    await expect(check([...near, server(60_000)])).resolves.toMatchObject({ answered: 10, offsetMs: 0 });
  });

  it('takes the one of two middle values that is closer to our clock', async () => {
    await expect(check([server(9000), server(100)])).resolves.toMatchObject({ answered: 2, offsetMs: -100 });
    await expect(check([server(-300), server(9000)])).resolves.toMatchObject({ answered: 2, offsetMs: 300 });
    await expect(check([server(300), server(-9000)])).resolves.toMatchObject({ answered: 2, offsetMs: -300 });
  });

  it('corrects each response by half of its round trip', async () => {
    await expect(check([server(700, 200, 200)])).resolves.toMatchObject({ offsetMs: -700 });
    await expect(check([server(0, 0, 400)])).resolves.toMatchObject({ offsetMs: 200 });
    await expect(check([server(0, 400, 0)])).resolves.toMatchObject({ offsetMs: -200 });
  });

  it('measures the round trip by monotonic time', async () => {
    const stepped: TimeSource = {
      name: 'peer',
      ask: async () => {
        await clock.sleep(50);
        clock.step(3000);
        const theirs = clock.now();
        await clock.sleep(50);
        return theirs;
      },
    };
    await expect(check([stepped])).resolves.toMatchObject({ offsetMs: 0 });
  });

  it('queries all sources concurrently', async () => {
    const slow = Array.from({ length: 20 }, () => server(0, 300, 300));
    const checked = checkClock(slow, clock, options);
    await clock.advance(600);
    await expect(checked).resolves.toEqual({ asked: 20, answered: 20, offsetMs: 0 });
    expect(clock.sleeping).toBe(0);
  });

  it('ignores sources that fail', async () => {
    const failing: TimeSource[] = [
      { name: 'refuses', ask: () => Promise.reject(new Error('ECONNREFUSED')) },
      {
        name: 'throws',
        ask: () => {
          throw new Error('no address');
        },
      },
    ];
    await expect(check(failing)).resolves.toEqual({ asked: 2, answered: 0, offsetMs: undefined });
    await expect(check([...failing, server(-3)])).resolves.toEqual({ asked: 3, answered: 1, offsetMs: 3 });
  });

  it('does not wait longer than the limit', async () => {
    const silent: TimeSource = { name: 'silent', ask: () => new Promise(() => undefined) };
    const checked = checkClock([silent, server(-7)], clock, options);
    await clock.advance(1000);
    await expect(checked).resolves.toEqual({ asked: 2, answered: 1, offsetMs: 7 });
    expect(clock.sleeping).toBe(0);
  });

  it('accepts a response at the limit', async () => {
    const last: TimeSource = { name: 'last', ask: () => clock.sleep(1000).then(() => clock.now()) };
    await expect(check([last])).resolves.toEqual({ asked: 1, answered: 1, offsetMs: -500 });
  });

  // Jest fails a test with an unhandled rejection, as Node ends a process.
  it('ignores responses after the limit', async () => {
    const late = server(90_000, 600, 600);
    const lateFault: TimeSource = {
      name: 'late',
      ask: () => clock.sleep(1500).then(() => Promise.reject(new Error('reset'))),
    };
    await expect(check([late, lateFault, server(0)])).resolves.toEqual({ asked: 3, answered: 1, offsetMs: 0 });
  });

  it('ignores a response that waited during a suspension', async () => {
    const suspended: TimeSource = {
      name: 'peer',
      ask: () => {
        const theirs = clock.now();
        clock.pause(60_000);
        return Promise.resolve(theirs);
      },
    };
    await expect(check([suspended])).resolves.toEqual({ asked: 1, answered: 0, offsetMs: undefined });
  });

  it.each([NaN, Infinity, -1, NOW + 0.5, 2 ** 53])('ignores the response %d', async (answer) => {
    await expect(check([answering(answer)])).resolves.toEqual({ asked: 1, answered: 0, offsetMs: undefined });
  });

  it('accepts a clock in 1970', async () => {
    await expect(check([answering(0)])).resolves.toMatchObject({ code: 'LEAF_CLOCK_OFFSET' });
  });

  it('ignores a text', async () => {
    await expect(check([answering(String(NOW) as unknown as number)])).resolves.toMatchObject({ answered: 0 });
  });

  it('accepts offsets up to the limit, in both directions', async () => {
    await expect(check([server(5000)])).resolves.toMatchObject({ offsetMs: -5000 });
    await expect(check([server(-5000)])).resolves.toMatchObject({ offsetMs: 5000 });
    expect(await refusal([server(5001)])).toContain('5001 ms behind');
    expect(await refusal([server(-5001)])).toContain('5001 ms ahead of');
  });

  it('names the offset, the sources, the limit and the next step', async () => {
    const message = await refusal([server(6000, 1, 1, '10.0.0.8:8080'), server(8000, 1, 1, 'the database')]);
    for (const part of ['6000 ms behind', '5000 ms are allowed', '10.0.0.8:8080 (-6000), the database (-8000)']) {
      expect(message).toContain(part);
    }
    expect(await refusal([server(0, 0, 0, 'right'), server(-20_000), server(-20_000)])).toContain('right (0)');
    expect(message).toContain('Correct the clock');
  });

  it('names at most five sources that responded', async () => {
    const gone: TimeSource = { name: 'gone', ask: () => Promise.reject(new Error('down')) };
    const peers = Array.from({ length: 7 }, (_, index) => server(-9000, 0, 0, `peer-${index}`));
    const message = await refusal([gone, ...peers]);
    expect(message).toContain('peer-3 (+9000), peer-4 (+9000) and 2 more');
    expect(message).not.toMatch(/peer-5|gone/);
    expect(await refusal(peers.slice(0, 5))).not.toContain('more');
  });
});
