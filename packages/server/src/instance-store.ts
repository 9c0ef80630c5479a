/** Single values that belong to the installation as a whole. */
export interface InstanceStore {
  /** The value of that name; when there is none, this one, from now on and for every node. */
  findOrCreate(name: string, value: string): Promise<string>
}
