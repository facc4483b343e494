import type { JSX } from 'preact';

const WIDTH = 76;
const HEIGHT = 20;

/** The shape of some values; the number beside it says how much. */
export function SparkLine({ values }: { readonly values: readonly number[] }): JSX.Element {
  const highest = Math.max(...values, 0);
  const step = WIDTH / Math.max(1, values.length - 1);
  const points = values.map((value, index) => {
    const y = HEIGHT - 1.5 - (highest === 0 ? 0 : (value / highest) * (HEIGHT - 3));
    return `${(index * step).toFixed(1)} ${y.toFixed(1)}`;
  });
  return (
    <svg class="spark" viewBox={`0 0 ${WIDTH} ${HEIGHT}`} aria-hidden="true" focusable="false">
      {highest > 0 && <path class="spark-area" d={`M0 ${HEIGHT}L${points.join('L')}L${WIDTH} ${HEIGHT}Z`} />}
      {points.length > 1 && <path class="spark-line" d={`M${points.join('L')}`} />}
    </svg>
  );
}
