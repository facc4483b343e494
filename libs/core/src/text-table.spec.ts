import { table } from './util/visible-text';

it('aligns the columns, without spaces at the ends of lines', () => {
  expect(table(['tag', 'step'], [['order', '2000'], ['a']])).toEqual(['tag    step', 'order  2000', 'a']);
});

it('keeps a row on its line, whatever its cells contain', () => {
  const rows = [
    ['order\nforged  1', 'x'],
    ['\u001b[2J', '\u202ea'],
  ];
  expect(table(['tag', 'step'], rows)).toEqual([
    'tag                   step',
    'order\\u000aforged  1  x',
    '\\u001b[2J             \\u202ea',
  ]);
});
