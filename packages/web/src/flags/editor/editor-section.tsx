import { Box, Text, Title } from '@mantine/core'
import type { ReactNode } from 'react'
import classes from './editor.module.css'

export function EditorSection(props: { title: string; intro?: string; children: ReactNode }) {
  return (
    <section className={classes.section}>
      <Title order={2}>{props.title}</Title>
      {props.intro && (
        <Text size="sm" c="dimmed" mb="xs">
          {props.intro}
        </Text>
      )}
      <Box mt="xs">{props.children}</Box>
    </section>
  )
}
