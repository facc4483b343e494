import { formatTable, significant } from '../../report/table';

/** One figure at sizes that grow by factors of ten. */
export interface Growth {
  readonly name: string;
  readonly values: readonly number[];
}

/** The least-squares slope of log(value) over log(size): 1 if the value is proportional to the size. */
export function exponentOf(sizes: readonly number[], values: readonly number[]): number {
  const points = sizes.map((size, index) => [Math.log(size), Math.log(values[index] ?? NaN)] as const);
  const mean = (axis: 0 | 1): number => points.reduce((sum, point) => sum + point[axis], 0) / points.length;
  const [x, y] = [mean(0), mean(1)];
  const above = points.reduce((sum, point) => sum + (point[0] - x) * (point[1] - y), 0);
  return above / points.reduce((sum, point) => sum + (point[0] - x) ** 2, 0);
}

export function describeGrowth(what: string, sizes: readonly number[], rows: readonly Growth[]): string {
  const header = [what, ...sizes.map(significant), 'exponent'];
  const lines = rows.map(({ name, values }) => {
    const exponent = values.every((value) => value > 0) ? exponentOf(sizes, values).toFixed(2) : '';
    return [name, ...values.map(significant), exponent];
  });
  return formatTable(header, lines);
}
