import type { Freeze } from './freeze.ts'

export interface FreezeStore {
  create(freeze: Omit<Freeze, 'id'>): Promise<Freeze>
  /** False when there was none. */
  remove(organizationId: string, freezeId: number): Promise<boolean>
  /** Newest first; an organization has few. */
  list(organizationId: string): Promise<readonly Freeze[]>
}
