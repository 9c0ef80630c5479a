import type { Flag } from '../../features/flags/flag.ts'
import type { ProjectContent } from './served-project.ts'

/**
 * Where served projects come from: a database, or an upstream that an edge follows. Everything here raises `unavailable` when the source
 * cannot be asked; what has been read before goes on being served then.
 */
export interface ProjectSource {
  findIdByToken(token: string): Promise<number | undefined>
  /** By the hash of one of the project's secret keys. */
  findIdBySecretKey(hash: string): Promise<number | undefined>
  /** All of a project at one moment; undefined when there is none. */
  read(projectId: number): Promise<ProjectContent | undefined>
  /** Those of the flags that are live. */
  readFlags(projectId: number, flagIds: readonly number[]): Promise<readonly Flag[]>
}
