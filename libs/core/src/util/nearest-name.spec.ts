import { nearestName } from './nearest-name';

const NAMES = ['database', 'migrate', 'tags', 'segment', 'port', 'minSize', 'maxSize'];

describe('nearestName', () => {
  it.each([
    ['tag', 'tags'],
    ['databse', 'database'],
    ['dtaabase', 'database'],
    ['prot', 'port'],
    ['sgement', 'segment'],
    ['minsize', 'minSize'],
    ['MAXSIZE', 'maxSize'],
    ['tags', 'tags'],
  ])('takes %s for %s', (misspelled, meant) => {
    expect(nearestName(misspelled, NAMES)).toBe(meant);
  });

  it.each(['', 'zone', 'host', 'log', 'url', 'timeoutMs'])('takes %j for none', (other) => {
    expect(nearestName(other, NAMES)).toBeUndefined();
  });
});
