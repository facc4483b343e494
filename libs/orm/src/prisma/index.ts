export { formattedId } from './formatted-id';
export { type LeafKeysExtension, leafKeys } from './leaf-keys';
export type { PrismaModel, PrismaModels } from './prisma-models';
