package io.github.leafids.it;

import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.boot.diagnostics.FailureAnalysisReporter;

/** What Spring Boot told about the newest start that failed; Spring Boot creates the instances. */
public class LastFailure implements FailureAnalysisReporter {
  static volatile String description = "";

  @Override
  public void report(FailureAnalysis analysis) {
    description = analysis.getDescription();
  }
}
