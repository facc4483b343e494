export type { KeyType } from './generated-key';
export { idTransformer, type IdTransformer } from './id-transformer';
export { type GeneratedKeyOptions, LeafId, SnowflakeId } from './leaf-id.decorators';
export { LeafIdSubscriber } from './leaf-id.subscriber';
