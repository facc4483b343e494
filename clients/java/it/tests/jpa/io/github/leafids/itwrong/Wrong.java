package io.github.leafids.itwrong;

import io.github.leafids.hibernate.LeafId;
import jakarta.persistence.Entity;
import jakarta.persistence.Id;

/** Outside of the packages that the applications of the tests scan. */
@Entity
public class Wrong {
  @Id
  @LeafId
  Integer id;
}
