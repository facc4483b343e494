import { LeafError } from '@leaf-ids/core';
import { parseProperties, readJavaProperties } from './java-properties';
import { loadConfig } from '../config/leaf-config';

function read(...lines: string[]): ReturnType<typeof readJavaProperties> {
  return readJavaProperties(lines.join('\n'), 'conf/leaf.properties');
}

function fault(...lines: string[]): string {
  try {
    read(...lines);
  } catch (error) {
    expect(error).toMatchObject({ code: 'LEAF_CONFIG_INVALID' });
    return (error as LeafError).message;
  }
  throw new Error('no fault');
}

const zookeeper = ['leaf.name=ids', 'leaf.segment.enable=false', 'leaf.snowflake.zk.address=zk1:2181,zk2:2181'];

describe('readJavaProperties', () => {
  it('reads the file that the original ships', () => {
    const shipped = [
      'leaf.name=com.sankuai.leaf.opensource.test',
      'leaf.segment.enable=false',
      '#leaf.jdbc.url=',
      'leaf.snowflake.enable=false',
      '#leaf.snowflake.zk.address=',
      'leaf.snowflake.port=',
    ];
    expect(read(...shipped)).toEqual({
      env: {
        LEAF_NAME: 'com.sankuai.leaf.opensource.test',
        LEAF_SEGMENT_ENABLED: 'false',
        LEAF_SNOWFLAKE_ENABLED: 'false',
        LEAF_SNOWFLAKE_REGISTRY: 'zk_normal',
      },
      warnings: [],
    });
  });

  it('reads both modes', () => {
    const text = [
      'leaf.name=ids',
      'leaf.segment.enable=TRUE ',
      'leaf.jdbc.url=jdbc:mysql://db:3306/leaf?useUnicode=true&characterEncoding=utf8&useSSL=false',
      'leaf.jdbc.username=leaf',
      'leaf.jdbc.password=a@b ',
      'leaf.snowflake.enable=true',
      'leaf.snowflake.zk.address=zk1:2181,zk2:2181/leaf',
      'leaf.snowflake.port=8080',
    ];
    expect(read(...text)).toEqual({
      env: {
        LEAF_NAME: 'ids',
        LEAF_SEGMENT_ENABLED: 'true',
        LEAF_DATABASE_URL: 'mysql://leaf:a%40b%20@db:3306/leaf?sslmode=disable',
        LEAF_SNOWFLAKE_ENABLED: 'true',
        LEAF_SNOWFLAKE_REGISTRY: 'zk_normal',
        LEAF_ZOOKEEPER: 'zk1:2181,zk2:2181/leaf',
        LEAF_ADVERTISE_PORT: '8080',
      },
      warnings: [],
    });
  });

  it.each(['zk_normal', 'zk_recycle', 'mysql', 'local'])('knows the mode %s of the fork', (mode) => {
    expect(read(...zookeeper, `leaf.snowflake.mode=${mode}`).env.LEAF_SNOWFLAKE_REGISTRY).toBe(mode);
  });

  it('produces settings that this server accepts', () => {
    const { env, warnings } = read(
      ...zookeeper,
      'leaf.snowflake.mode=local',
      'leaf.snowflake.port=9090',
      'leaf.snowflake.local.workIdMap={"10.0.0.7:9090":3,\\',
      '  "10.0.0.8:9090":4}',
    );
    expect(warnings).toStrictEqual([]);
    const { snowflake, segment } = loadConfig({ ...env, LEAF_ADVERTISE_HOST: '10.0.0.7' }).ids;
    expect(segment).toBeUndefined();
    expect(snowflake).toMatchObject({
      registry: { strategy: 'local', workers: { '10.0.0.7:9090': 3, '10.0.0.8:9090': 4 } },
      instance: { ip: '10.0.0.7', port: 9090 },
    });
  });

  it('does not warn about a mode that is off', () => {
    const off = ['leaf.name=ids', 'leaf.segment.enable=false', 'leaf.snowflake.enable=false'];
    for (const mode of ['zk_normal', 'zk_recycle', 'mysql', 'local']) {
      expect(read(...off, `leaf.snowflake.mode=${mode}`).warnings).toStrictEqual([]);
    }
  });

  it('omits empty values', () => {
    const { env } = read(...zookeeper, 'leaf.snowflake.port=', 'leaf.jdbc.url=', 'leaf.jdbc.password=x');
    expect(env).not.toHaveProperty('LEAF_ADVERTISE_PORT');
    expect(env).not.toHaveProperty('LEAF_DATABASE_URL');
  });

  it('uses the default name of the Java service when none is set', () => {
    const { env, warnings } = read(...zookeeper.slice(1));
    expect(env.LEAF_NAME).toBe('null');
    expect(warnings).toEqual([expect.stringContaining('leaf.name is missing')]);
    expect(read(...zookeeper.slice(1), 'leaf.snowflake.mode=zk_recycle').env.LEAF_NAME).toBe('null');
    for (const other of ['leaf.snowflake.enable=false', 'leaf.snowflake.mode=mysql']) {
      expect(read('leaf.jdbc.url=jdbc:mysql://db/leaf', other)).toMatchObject({ warnings: [] });
      expect(read('leaf.jdbc.url=jdbc:mysql://db/leaf', other).env).not.toHaveProperty('LEAF_NAME');
    }
  });

  it.each([
    [['leaf.segment.enable=false', 'leaf.snowflake.mode=mysql'], 'leaf.jdbc.url'],
    [['leaf.snowflake.enable=false'], 'leaf.jdbc.url'],
    [['leaf.segment.enable=false', 'leaf.snowflake.mode=local'], 'leaf.snowflake.local.workIdMap'],
    [['leaf.segment.enable=false', 'leaf.snowflake.mode=zk_recycle'], 'zk_recycle'],
    [
      ['leaf.segment.enable=false', 'leaf.snowflake.enable=false', 'leaf.zk.list=a', 'hunter2'],
      'leaf.zk.list (line 4), line 5',
    ],
  ])('warns: %j', (lines, part) => {
    const { warnings } = read('leaf.name=ids', ...lines);
    expect(warnings).toEqual([expect.stringContaining(part)]);
    expect(warnings.join()).toContain('conf/leaf.properties: ');
    expect(warnings.join()).not.toContain('hunter2');
  });

  it.each([
    'leaf.name=',
    'leaf.name=a/b',
    'leaf.name=ids ',
    'leaf.segment.enable=yes',
    'leaf.segment.enable=',
    'leaf.snowflake.enable=1',
    'leaf.snowflake.mode=zk',
    'leaf.snowflake.mode=',
    'leaf.snowflake.zk.address=zk1:2181;zk2:2181',
    'leaf.snowflake.port=0',
    'leaf.snowflake.port=http',
    'leaf.snowflake.local.workIdMap={}',
    'leaf.snowflake.local.workIdMap={"10.0.0.7:1":1,"10.0.0.8:1":1}',
    'leaf.jdbc.url=jdbc:mysql://a,b/leaf',
    'leaf.jdbc.url=jdbc:mysql://db/',
  ])('refuses %s and names key and line', (line) => {
    expect(fault('# comment', line)).toContain(`line 2: ${line.split('=')[0] ?? ''} `);
  });

  it('lists every error with the file name', () => {
    const message = fault('leaf.snowflake.port=x', 'leaf.name=ids', 'leaf.snowflake.mode=y', 'leaf.x=\\u1');
    expect(message).toContain('conf/leaf.properties');
    expect(message.match(/line \d/g)?.sort()).toEqual(['line 1', 'line 3', 'line 4']);
  });

  it('shows no secrets', () => {
    const secret = ['leaf.jdbc.username=topsecret', 'leaf.jdbc.password=topsecret\\ud800'];
    const message = fault(...secret, 'leaf.jdbc.url=jdbc:mysql://db:topsecret/leaf?password=topsecret', 'leaf.name= ');
    expect(message).toContain('line 3');
    expect(message).not.toContain('topsecret');
    expect(fault(...secret, 'leaf.jdbc.url=jdbc:mysql://db/leaf')).not.toContain('topsecret');
  });
});

function parsed(text: string): Record<string, string> {
  const { entries, faults } = parseProperties(text);
  expect(faults).toStrictEqual([]);
  return Object.fromEntries([...entries].map(([key, { value }]) => [key, value]));
}

describe('parseProperties', () => {
  it.each([
    ['a=1', '1'],
    ['a:1', '1'],
    ['a 1', '1'],
    ['a\t1', '1'],
    ['  a = 1', '1'],
    ['a  :  1', '1'],
    ['a==1', '=1'],
    ['a = = 1', '= 1'],
    ['a : =1', '=1'],
    ['a=', ''],
    ['a', ''],
    ['a=1 # no comment', '1 # no comment'],
    ['a=1  ', '1  '],
    ['a=\\ 1', ' 1'],
    ['a=b=c:d e', 'b=c:d e'],
    ['a=\\t\\n\\r\\f\\\\', '\t\n\r\f\\'],
    ['a=\\q\\"', 'q"'],
    ['a=\\u4e2d\\u0041\\u00E9', '中Aé'],
    ['a=\\\\u0041', '\\u0041'],
    ['a=é', 'é'],
    ['\\u0061=1', '1'],
  ])('reads %j', (text, value) => {
    expect(parsed(text)).toEqual({ a: value });
  });

  it('reads keys with escaped separators', () => {
    expect(parsed('a\\=b\\:c\\ d=1')).toEqual({ 'a=b:c d': '1' });
    expect(parsed('a\\\\=1')).toEqual({ 'a\\': '1' });
  });

  it('skips comments and blank lines with any line ending', () => {
    expect(parsed('# x=1\\\n! y=2\r\n   \t# z=3\r\n\r\n\fa=1\rb=2\n')).toEqual({ a: '1', b: '2' });
  });

  it.each([
    ['a=1\\\n   2', '12'],
    ['a=1\\\r\n\t2\\\n3', '123'],
    ['a=1\\\n# 2', '1# 2'],
    ['a=\\\n\\\n1', '1'],
    ['a\\\n=1', '1'],
    ['a=1\\\\\\\n2', '1\\2'],
    ['a=1\\', '1'],
    ['a=1\\\n', '1'],
  ])('goes on in the next line: %j', (text, value) => {
    expect(parsed(text)).toEqual({ a: value });
  });

  it('does not continue a line after an escaped backslash or a blank line', () => {
    expect(parsed('a=1\\\\\nb=2')).toEqual({ a: '1\\', b: '2' });
    expect(parsed('a=1\\\n\nb=2')).toEqual({ a: '1', b: '2' });
  });

  it('reports the line of each entry, and uses the last entry of a key', () => {
    const { entries } = parseProperties('# first\na=1\\\n2\n\nb=3\r\na=4');
    expect(entries.get('b')).toEqual({ value: '3', line: 5 });
    expect(entries.get('a')).toEqual({ value: '4', line: 6 });
  });

  it.each(['a=\\u12', 'a=\\u12G4', 'a=\\u', '\\uxyz=1'])('reports the error in %j and continues', (text) => {
    const { entries, faults } = parseProperties(`\n${text}\nb=2`);
    expect(faults).toEqual([expect.stringMatching(/^line 2: /)]);
    expect(faults.join()).not.toContain('12');
    expect([...entries.keys()]).toEqual(['b']);
  });
});
