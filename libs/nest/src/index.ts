export { type HttpApplication, serializeBigInts } from './bigint-json';
export { LeafExceptionFilter } from './leaf-exception.filter';
