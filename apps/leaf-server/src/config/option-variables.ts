import { VARIABLES } from './variables';

const OPTION = /\bthe option ([a-z]\w*(?:\.\w+)*)/gi;

/**
 * The variables that set an option of the libraries, or its parts, for messages; undefined if none does.
 *
 * @param path of the option; that of an item, `snowflake.registry.workers["*"]`, may follow
 */
export function variablesOf(path: string): string | undefined {
  const [option = ''] = path.split('[', 1);
  const setting = (fits: (set: string) => boolean): string[] =>
    Object.entries(VARIABLES).flatMap(([name, { option: set }]) => ([set].flat().some(fits) ? [name] : []));
  const whole = setting((set) => set === option);
  const names = whole.length > 0 ? whole : setting((set) => set.startsWith(`${option}.`));
  // Of these, only one is set.
  const text = names.join(option === 'database' ? ' or ' : ' and ');
  return text === '' ? undefined : `${text}${path.slice(option.length)}`;
}

/** Plain data of the libraries, whose messages name options, with the names of variables in all of its strings. */
export function withVariables<Data>(data: Data): Data {
  return mapped(data) as Data;
}

function mapped(data: unknown): unknown {
  if (typeof data === 'string') return data.replace(OPTION, (text, option: string) => variablesOf(option) ?? text);
  if (Array.isArray(data)) return data.map(mapped);
  if (typeof data !== 'object' || data === null || Object.getPrototypeOf(data) !== Object.prototype) return data;
  return Object.fromEntries(Object.entries(data).map(([name, value]) => [name, mapped(value)]));
}
