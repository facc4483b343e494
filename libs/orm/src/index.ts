export { idTransformer, type IdTransformer, type KeyForm, type KeyType } from './id-transformer';
export { type GeneratedKeyOptions, LeafId, SnowflakeId } from './leaf-id.decorators';
export { LeafIdSubscriber } from './leaf-id.subscriber';
export { LeafNumber, type NumberOptions } from './leaf-number.decorator';
export { LeafNumberSubscriber } from './leaf-number.subscriber';
export { LeafNumbers } from './leaf-numbers';
