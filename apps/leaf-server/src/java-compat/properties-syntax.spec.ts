import { parseProperties } from './properties-syntax';

function read(text: string): Record<string, string> {
  const { entries, faults } = parseProperties(text);
  expect(faults).toEqual([]);
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
    expect(read(text)).toEqual({ a: value });
  });

  it('reads keys with escaped separators', () => {
    expect(read('a\\=b\\:c\\ d=1')).toEqual({ 'a=b:c d': '1' });
    expect(read('a\\\\=1')).toEqual({ 'a\\': '1' });
  });

  it('skips comments and blank lines with any line ending', () => {
    expect(read('# x=1\\\n! y=2\r\n   \t# z=3\r\n\r\n\fa=1\rb=2\n')).toEqual({ a: '1', b: '2' });
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
    expect(read(text)).toEqual({ a: value });
  });

  it('does not continue a line after an escaped backslash or a blank line', () => {
    expect(read('a=1\\\\\nb=2')).toEqual({ a: '1\\', b: '2' });
    expect(read('a=1\\\n\nb=2')).toEqual({ a: '1', b: '2' });
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
