import { isNodePath, parseZookeeperAddress, parseZookeeperAuth } from './zookeeper-address';

describe('parseZookeeperAddress', () => {
  it.each([
    ['zk1:2181', [['zk1', 2181]], ''],
    ['zk1', [['zk1', 2181]], ''],
    [
      'zk1.example.com:2182, zk-2:2183,10.0.0.7:1',
      [
        ['zk1.example.com', 2182],
        ['zk-2', 2183],
        ['10.0.0.7', 1],
      ],
      '',
    ],
    [
      '[::1]:2184,[fe80::1]',
      [
        ['::1', 2184],
        ['fe80::1', 2181],
      ],
      '',
    ],
    ['zk1:2181/', [['zk1', 2181]], ''],
    [
      'zk1:2181,zk2:2181/prod/leaf',
      [
        ['zk1', 2181],
        ['zk2', 2181],
      ],
      '/prod/leaf',
    ],
  ])('reads %s', (text, hosts, chroot) => {
    const address = parseZookeeperAddress(text);
    expect(address.hosts.map(({ host, port }) => [host, port])).toEqual(hosts);
    expect(address.chroot).toBe(chroot);
  });

  it('describes the parsed address', () => {
    expect(parseZookeeperAddress('zk1:2181, zk2/leaf').description).toBe('zk1:2181,zk2/leaf');
  });

  it.each([
    '',
    ',',
    'zk1:2181,',
    'zk1:0',
    'zk1:65536',
    'zk1:port',
    'zk1:2181:3888',
    '::1',
    '[10.0.0.7]:2181',
    'zk 1:2181',
    'user@zk1:2181',
    'zookeeper://zk1:2181',
    'zk1..example:2181',
    'zk1:2181/leaf/',
    'zk1:2181//leaf',
    'zk1:2181/../leaf',
    'zk1:2181/leaf,zk2:2181/../leaf',
  ])('refuses "%s"', (text) => {
    expect(() => parseZookeeperAddress(text)).toThrow(expect.objectContaining({ code: 'LEAF_CONFIG_INVALID' }));
  });
});

describe('parseZookeeperAuth', () => {
  it.each(['leaf:secret', 'leaf:with:colons and spaces', 'leaf:s'])('reads digest:%s', (credentials) => {
    expect(parseZookeeperAuth(`digest:${credentials}`)).toEqual({ scheme: 'digest', credentials });
  });

  it.each([
    '',
    'digest',
    'digest:',
    'digest:leaf',
    'digest:leaf:',
    'digest::hunter2',
    'leaf:hunter2',
    'sasl:leaf:hunter2',
  ])('refuses "%s" without repeating it', (text) => {
    expect(() => parseZookeeperAuth(text)).toThrow(
      expect.objectContaining({
        code: 'LEAF_CONFIG_INVALID',
        message: expect.not.stringContaining('hunter2'),
      }),
    );
  });
});

describe('isNodePath', () => {
  it.each(['/', '/a', '/a/b-0000000001', '/snowflake/a.b/10.0.0.7:8080', '/a/...'])('takes %j', (path) => {
    expect(isNodePath(path)).toBe(true);
  });

  it.each(['', 'a', 'a/b', '//', '/a/', '/a//b', '/.', '/a/../b', '/a\0b', '/a\nb', '/a\u{1F600}'])(
    'refuses %j',
    (path) => {
      expect(isNodePath(path)).toBe(false);
    },
  );
});
