import { parseEtcdAuth, parseEtcdEndpoints } from './etcd-address';

const INVALID = expect.objectContaining({ code: 'LEAF_CONFIG_INVALID' }) as Error;

describe('the address of etcd', () => {
  it.each([
    ['https://e1:2379,http://e2:4001', ['https://e1:2379', 'http://e2:4001']],
    [' https://e1 , https://[::1]', ['https://e1:2379', 'https://[::1]:2379']],
    ['https://e1:443/,http://e1:80', ['https://e1', 'http://e1']],
  ])('%j leads to %j', (text, origins) => {
    expect(parseEtcdEndpoints(text).map(({ origin }) => origin)).toEqual(origins);
  });

  it.each(['', 'e1:2379', 'https://', 'https://e1/v3', 'https://a:b@e1', 'https://e1?x=1', 'https://e1,', 'ftp://e1'])(
    '%j is refused',
    (text) => {
      expect(() => parseEtcdEndpoints(text)).toThrow(INVALID);
    },
  );

  it('has a password with any characters', () => {
    expect(parseEtcdAuth('leaf:a:b\n')).toEqual({ user: 'leaf', password: 'a:b\n' });
    for (const text of ['leaf', 'leaf:', ':secret', '']) expect(() => parseEtcdAuth(text)).toThrow(INVALID);
  });
});
