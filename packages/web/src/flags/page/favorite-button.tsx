import { ActionIcon } from '@mantine/core'
import { useMessages } from '../../i18n/language.tsx'
import { StarIcon } from '../../ui/icons.tsx'
import { useFavorites, useSetFavorite } from '../favorites.ts'

export function FavoriteButton({ projectId, flagId }: { projectId: string; flagId: number }) {
  const t = useMessages()
  const isFavorite = useFavorites(projectId).has(flagId)
  const save = useSetFavorite(projectId)
  return (
    <ActionIcon
      variant="subtle"
      color={isFavorite ? 'yellow' : 'gray'}
      size="lg"
      aria-label={t.views.favorite}
      aria-pressed={isFavorite}
      title={t.views.favorite}
      loading={save.isPending}
      onClick={() => save.mutate({ flagId, isFavorite: !isFavorite })}
    >
      <StarIcon isFilled={isFavorite} />
    </ActionIcon>
  )
}
