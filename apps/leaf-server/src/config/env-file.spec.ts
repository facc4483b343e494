import { parseEnv } from 'node:util';
import { invalidLines } from './environment';

const VALID = [
  '',
  '\n\n',
  '# a comment = with a sign\n  # another one\n',
  'LEAF_PORT=1\nLEAF_HOST = ::1 # all of it\n',
  'export LEAF_PORT=1\n  LEAF_HOST=::1\n \t\n',
  'LEAF_PORT=1\r\n\r\nLEAF_HOST=::1\r\n',
  'LEAF_LOCAL_WORKERS={"*":0}\nA=it\'s "quoted" inside\nEMPTY=\n',
  'A="two\nlines" # and a comment\nB=\'x\'\r\nC=`y`\n',
  'name.of-another=1\n',
];

it.each(VALID)('takes %j', (text) => {
  expect(invalidLines(text)).toStrictEqual([]);
  for (const name of Object.keys(parseEnv(text))) expect(name).toMatch(/^[\w.-]+$/);
});

it.each([
  ['LEAF_PORT 9000', [1]],
  ['LEAF_NAME=a\nLEAF_PORT: 9000\nLEAF_HOST=::1\n', [2]],
  ['[leaf]\r\nLEAF_PORT=9000\r\n- LEAF_HOST=::1\r\n', [1, 3]],
  ['A="one\ntwo"\njunk\nB=1', [3]],
  ['A="x" junk\nB=1', [1]],
  ['A=1\n\nB="open\nC=1\n', [3]],
  ['=1\n', [1]],
  ['A=1\n\tB=1\n', [2]],
  ['set LEAF_PORT=9000', [1]],
])('refuses %j', (text, lines) => {
  expect(invalidLines(text)).toEqual(lines);
});
