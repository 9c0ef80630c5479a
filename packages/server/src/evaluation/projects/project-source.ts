import type { Flag } from '../../domain/flag.ts'
import type { ProjectContent } from './served-project.ts'

/**
 * Where served projects come from: a database, or an upstream that an edge follows. Everything here raises `unavailable` when the source
 * cannot be reached; projects in memory are still served then.
 */
export interface ProjectSource {
  findIdByToken(token: string): Promise<number | undefined>
  /** By the hash of one of the project's secret keys. */
  findIdBySecretKey(hash: string): Promise<number | undefined>
  /** A consistent read of the whole project; undefined when there is none. */
  read(projectId: number): Promise<ProjectContent | undefined>
  /** The given flags that are live. */
  readFlags(projectId: number, flagIds: readonly number[]): Promise<readonly Flag[]>
}
