import { KINDS, kindsOf, type Round, rounds } from './schedule';

function take(seed: number, count: number, kinds = KINDS): Round[] {
  const all = rounds(seed, kinds);
  return Array.from({ length: count }, () => all.next().value);
}

/** All of a round but what it does. */
function shown({ first, second, offsetMs }: Round): string {
  return JSON.stringify([first, second, offsetMs]);
}

describe('the schedule of a seed', () => {
  it('is the same each time, and another one for another seed', () => {
    expect(take(1, 200).map(shown)).toEqual(take(1, 200).map(shown));
    expect(take(1, 20).map(shown)).not.toEqual(take(2, 20).map(shown));
  });

  it('has every kind equally often', () => {
    const faults = take(3, 4 * KINDS.length).flatMap(({ first, second }) => (second ? [first, second] : [first]));
    const decks = Math.floor(faults.length / KINDS.length);
    const counts = KINDS.map(
      (kind) => faults.slice(0, decks * KINDS.length).filter((plan) => plan.kind === kind).length,
    );
    expect(decks).toBeGreaterThanOrEqual(4);
    expect(counts).toEqual(KINDS.map(() => decks));
  });

  it('overlaps some faults, never two of one part', () => {
    const pairs = take(4, 400).filter(({ second }) => second !== undefined);
    expect(pairs.length).toBeGreaterThan(40);
    for (const { first, second, offsetMs } of pairs) {
      expect(second!.parts.filter((part) => first.parts.includes(part))).toStrictEqual([]);
      expect(offsetMs).toBeLessThanOrEqual(first.holdMs);
    }
  });

  it('has faults of the pooler where there is one, and all others on each database', () => {
    const postgres = kindsOf('postgres', 'zookeeper');
    const only = postgres.filter((kind) => !kindsOf('mariadb', 'zookeeper').includes(kind));
    expect(only).toEqual(['pooler-kill', 'pooler-suspend']);
  });

  it('has faults of the coordinator that there is, and all others with each', () => {
    const [zookeeper, etcd] = [kindsOf('postgres', 'zookeeper'), kindsOf('postgres', 'etcd')];
    expect(new Set([...zookeeper, ...etcd])).toEqual(new Set(KINDS));
    const ofEtcd = etcd.filter((kind) => !zookeeper.includes(kind));
    expect([...new Set(ofEtcd.map((kind) => kind.split('-')[0]))]).toEqual(['etcd', 'kubernetes']);
    expect(zookeeper.filter((kind) => !etcd.includes(kind)).every((kind) => kind.startsWith('zookeeper-'))).toBe(true);
  });

  it('keeps to the kinds that are asked for', () => {
    const kinds = ['server-kill', 'clock-back'];
    const seen = new Set(take(5, 50, kinds).flatMap(({ first, second }) => [first.kind, second?.kind ?? first.kind]));
    expect([...seen].sort()).toEqual([...kinds].sort());
  });
});
