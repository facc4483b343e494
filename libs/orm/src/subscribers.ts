import type { DataSource, EntitySubscriberInterface } from 'typeorm';

/** Makes the compiler emit the types of the constructor's parameters, by which Nest injects, without importing Nest. */
export function injectable(_target: unknown): void {
  // Any decorator has this effect.
}

/**
 * Keeps the subscribers that match `isKept` in a data source. Each `initialize()` replaces the list by the subscribers
 * of the options. It would silently drop a subscriber that was added before, and rows would be inserted without keys.
 */
export function keepSubscribers(
  dataSource: DataSource,
  isKept: (subscriber: EntitySubscriberInterface) => boolean,
): void {
  let { subscribers } = dataSource;
  Object.defineProperty(dataSource, 'subscribers', {
    configurable: true,
    enumerable: true,
    get: () => subscribers,
    set: (replacement: EntitySubscriberInterface[]) => {
      subscribers = [...replacement, ...subscribers.filter(isKept)];
    },
  });
}
