import { STRATEGY_NAMES, type StrategyName } from '@leaf-ids/registry';
import { oneOf } from './parsers';

/** Other names, of pages and habits from elsewhere. */
const ALIASES: Readonly<Record<string, StrategyName>> = { mysql_recycle: 'database' };

const listed = oneOf(...STRATEGY_NAMES);

/** The name of a worker registry. */
export function registry(text: string): StrategyName {
  return ALIASES[text] ?? listed(text);
}
