import { inspect } from 'node:util';
import { FakeClock } from '@leaf-ids/core/testing';
import { ClusterTokens } from './cluster-tokens';

const [FIRST, SECOND] = ['first-token-0123456789', 'second-token-0123456789'];

describe('ClusterTokens', () => {
  it('sends the first token that has not expired, and accepts all', async () => {
    const clock = new FakeClock();
    const expiresAt = clock.now() + 1000;
    const tokens = new ClusterTokens(
      [
        { name: 'old', token: FIRST, expiresAt },
        { name: 'new', token: SECOND },
      ],
      clock,
    );
    expect(tokens.toSend).toBe(FIRST);
    expect([tokens.find(FIRST)?.name, tokens.find(SECOND)?.name]).toEqual(['old', 'new']);
    await clock.advance(1000);
    expect(tokens.toSend).toBe(SECOND);
    expect(tokens.find(FIRST)).toBeUndefined();
  });

  it('sends a replaced token no more', () => {
    const tokens = new ClusterTokens([{ name: 'cluster', token: FIRST }], new FakeClock());
    tokens.replace([{ name: 'cluster', token: SECOND }]);
    expect(tokens.toSend).toBe(SECOND);
    tokens.replace([]);
    expect(tokens.toSend).toBeUndefined();
  });

  it('reveals no token when it is printed', () => {
    const tokens = new ClusterTokens([{ name: 'cluster', token: FIRST }], new FakeClock());
    expect(inspect(tokens, { depth: 9, showHidden: true })).not.toContain(FIRST);
    expect(JSON.stringify(tokens)).not.toContain(FIRST);
  });
});
