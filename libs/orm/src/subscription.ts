import type { DataSource, EntitySubscriberInterface } from 'typeorm';

/**
 * Keeps the subscribers of a data source for which `isKept` holds. Each `initialize()` replaces the list by what the
 * options name: a subscriber that was added before is dropped silently, and rows are inserted without their keys.
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
