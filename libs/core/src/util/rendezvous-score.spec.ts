import { rendezvousScore } from './rendezvous-score';

describe('rendezvousScore', () => {
  /** These scores determine the databases of the tags of running services. */
  it.each([
    ['order', 'a', 0, 477959345],
    ['order', 'b', 0, 3174540462],
    ['order', 'ä😀', 0, 1501313944],
    ['order', 'http://10.0.0.7:8080', 123456789, 1723753872],
    ['order', 'http://10.0.0.7:8080', 4294967295, 1969228349],
  ])('of %s and %s with the seed %d stays what it was', (key, place, seed, score) => {
    expect(rendezvousScore(key, place, seed)).toBe(score);
  });
});
