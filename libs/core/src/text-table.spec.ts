import { table } from './text-table';

it('aligns the columns, without spaces at the ends of lines', () => {
  expect(table(['tag', 'step'], [['order', '2000'], ['a']])).toEqual(['tag    step', 'order  2000', 'a']);
});
