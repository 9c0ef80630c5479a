/** With PostgreSQL and no configured key: what the secrets of the installation are encrypted with. */
export const secretKeyName = 'secret_key'

/** Single values that belong to the installation as a whole. */
export interface InstanceStore {
  /** The value of that name; when there is none, this one is stored, for every node. */
  findOrCreate(name: string, value: string): Promise<string>
  find(name: string): Promise<string | undefined>
  remove(name: string): Promise<void>
}
