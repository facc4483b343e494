import type { JSX } from 'preact';

const WIDTH = 76;
const HEIGHT = 20;
const BASE = HEIGHT - 1.5;

interface SparkLineProps {
  readonly values: readonly number[];
  /** Number of values that fill the width. The newest value is always at the right edge. */
  readonly capacity: number;
}

/** A line chart without axes; a number next to it shows the current value. */
export function SparkLine({ values, capacity }: SparkLineProps): JSX.Element {
  const highest = Math.max(...values, 0);
  const step = WIDTH / Math.max(1, capacity - 1);
  const left = WIDTH - step * (values.length - 1);
  const points = values.map((value, index) => {
    const y = BASE - (highest === 0 ? 0 : (value / highest) * (HEIGHT - 3));
    return `${(left + index * step).toFixed(1)} ${y.toFixed(1)}`;
  });
  return (
    <svg class="spark" viewBox={`0 0 ${WIDTH} ${HEIGHT}`} preserveAspectRatio="none" aria-hidden="true">
      <path class="spark-base" d={`M0 ${BASE}H${WIDTH}`} />
      {highest > 0 && (
        <path class="spark-area" d={`M${left.toFixed(1)} ${HEIGHT}L${points.join('L')}L${WIDTH} ${HEIGHT}Z`} />
      )}
      {points.length > 1 && <path class="spark-line" d={`M${points.join('L')}`} />}
    </svg>
  );
}
