import { StoreHistory, type StoreProgress } from './store-history';

const at = (index: number, revision: number, source = 'c1'): StoreProgress => ({ source, index, revision });

/** Reads data with the origin `recorded` from a cluster that is idle. */
function read(history: StoreHistory, recorded: string | undefined, progress: StoreProgress): string {
  return history.originOf(recorded, { mark: history.mark, index: progress.index }, progress);
}

describe('the history of a store', () => {
  it('keeps its origin while the cluster lives, for every server', () => {
    const origin = read(new StoreHistory(), undefined, at(9, 4));
    const server = new StoreHistory();
    for (const later of [at(9, 4), at(10, 4), at(10, 5), at(11, 5), at(5000, 3000)]) {
      expect(read(server, origin, later)).toBe(origin);
      expect(read(new StoreHistory(), origin, later)).toBe(origin);
    }
  });

  it.each([
    ['another cluster', at(6000, 4000, 'c2')],
    ['a snapshot restored under the same name: the index starts anew', at(9, 3000)],
    ['a snapshot restored, and a thousand failed transactions later', at(1009, 3000)],
    ['a snapshot restored with a raised revision', at(1_000_009, 1_003_000)],
    ['an index below the recorded one', at(7, 4)],
    ['a revision below the recorded one', at(5000, 3)],
  ])('begins another one for %s, also for a server without a memory', (_, now) => {
    const origin = read(new StoreHistory(), undefined, at(2000, 900));
    const other = read(new StoreHistory(), origin, now);
    expect(other).not.toBe(origin);
    expect(read(new StoreHistory(), other, now)).toBe(other);
  });

  it('begins another one for a restored disk, for a server that has seen more', () => {
    const [reader, writer, newcomer] = [new StoreHistory(), new StoreHistory(), new StoreHistory()];
    const origin = read(reader, undefined, at(9, 4));
    read(reader, origin, at(60, 50));
    writer.saw(at(60, 50));
    for (const each of [reader, writer]) {
      const other = read(each, origin, at(40, 30));
      expect(other).not.toBe(origin);
      expect(read(each, other, at(41, 31))).toBe(other);
    }
    expect(read(newcomer, origin, at(40, 30))).toBe(origin);
  });

  it('does not return to an origin that went back, if the next one could not be recorded', () => {
    const history = new StoreHistory();
    const origin = read(history, undefined, at(9, 4));
    read(history, origin, at(60, 50));
    expect(read(history, origin, at(40, 30))).not.toBe(origin);
    expect(history.mark).toEqual({ source: 'c1', revision: 30 });
    expect(read(history, origin, at(41, 31))).not.toBe(origin);
    // Nor when the data are gone altogether.
    expect(read(history, undefined, at(42, 32))).toBe('c1:42:32');
  });

  it('does not take a response that was overtaken for a loss', () => {
    const history = new StoreHistory();
    const origin = read(history, undefined, at(9, 4));
    const { mark } = history;
    history.saw(at(20, 12));
    history.saw(at(19, 11));
    expect(history.originOf(origin, { mark, index: 15 }, at(18, 10))).toBe(origin);
    expect(history.mark).toEqual({ source: 'c1', revision: 12 });
  });

  it('does not continue an origin that it cannot parse', () => {
    for (const foreign of ['', 'zookeeper', 'c1', 'c1:x:y']) {
      expect(read(new StoreHistory(), foreign, at(9, 4))).toBe('c1:9:4');
    }
  });
});
