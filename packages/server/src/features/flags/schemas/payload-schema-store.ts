import type { Instant } from '../../../instant.ts'
import type { PageOf, Window } from '../../../pagination.ts'
import type { JsonSchema } from './payload-schema.ts'

export interface StoredPayloadSchema {
  readonly flagId: number
  readonly flagKey: string
  readonly schema: JsonSchema
  readonly updatedAt: Instant
}

export interface PayloadSchemaStore {
  find(projectId: number, flagId: number): Promise<StoredPayloadSchema | undefined>
  /** Of the flags that are not deleted, by flag id. */
  list(projectId: number, window: Window): Promise<PageOf<StoredPayloadSchema>>
  save(projectId: number, flagId: number, schema: JsonSchema, now: Instant): Promise<void>
  remove(projectId: number, flagId: number): Promise<void>
}
