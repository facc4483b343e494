export { LeafClientModule } from './client.module';
export {
  type ClientToken,
  DEFAULT_CLIENT_OPTIONS,
  type DroppedIds,
  type EjectionOptions,
  LeafClient,
  type LeafClientEvents,
  type LeafClientOptions,
  type LeafClientSnapshot,
  type LeafServerAddress,
  type PrefetchOptions,
  type PrefetchView,
  type ServerState,
  type ServerView,
  type SnowflakePrefetchOptions,
  type TagView,
} from './plain';
